// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "load/interval_merger.h"
#include "load/summary.h"
#include "run/worker_thread.h"

namespace raftperf::run {

/// One second of the run, once all that was due in it has ended.
struct SecondReport {
  const load::Interval& interval;        ///< By intended start.
  std::uint64_t ok_by_completion = 0;    ///< By completion time.
  std::optional<double> in_flight_mean;  ///< Sampled in that second.
  int leader = load::kNoNode;            ///< As last told within it.
  std::uint64_t term = 0;
};

/// The last second, for people.
struct Progress {
  load::Duration elapsed{0};  ///< Since the run began.
  load::Phase phase = load::Phase::kWarmup;
  double qps = 0;
  std::optional<double> latency_us;  ///< Mean of what completed; none if nothing did.
  std::uint64_t in_flight = 0;
};

/// What an observer calls, on its own thread.
struct ObserverCallbacks {
  std::function<void(const SecondReport&)> second;
  std::function<void(const Progress&)> progress;
  std::function<void()> window_started;
  std::function<void()> window_ended;
  std::function<void()> sampled;  ///< A hundred times a second: to pass word on to `Signals`.
};

/// A thread beside the workers: samples what is in flight a hundred times a second,
/// joins finished intervals, reports each second. It takes no lock that a worker waits for.
class Observer {
 public:
  Observer(std::vector<WorkerThread*> workers, load::LoadMode mode, load::Window window,
           load::TimePoint start, const Signals& signals, ObserverCallbacks callbacks);
  ~Observer();
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  /// Ends the thread and sums the run up. REQUIRES: every worker is joined.
  load::Summary finish();

 private:
  struct Second {
    load::InFlightSamples in_flight;
    std::uint64_t leader_word = 0;
  };

  void run();
  void sample(load::TimePoint now);
  void report_progress(load::TimePoint now);
  void emit(const load::Interval& interval);
  void report_second(const load::Interval& interval);
  /// Seconds before `index` in which nothing was due, and those of the drain.
  void report_idle_seconds_before(std::int64_t index);
  [[nodiscard]] std::uint64_t ok_in_second(std::int64_t index) const;

  std::vector<WorkerThread*> workers_;
  load::Window window_;
  load::TimePoint start_;
  const Signals& signals_;
  ObserverCallbacks callbacks_;
  load::SummaryBuilder builder_;
  load::IntervalMerger merger_;
  load::InFlightSamples in_flight_;
  std::map<std::int64_t, Second> seconds_;  ///< Not yet emitted.
  load::Interval idle_;
  std::int64_t next_second_;
  bool window_started_ = false;
  bool window_ended_ = false;
  load::TimePoint progress_at_;
  std::uint64_t progress_completed_ = 0;
  std::uint64_t progress_latency_ns_ = 0;
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace raftperf::run
