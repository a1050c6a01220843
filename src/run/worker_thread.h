// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "drivers/registry.h"
#include "load/completion_sink.h"
#include "load/worker.h"
#include "run/monotonic_clock.h"
#include "run/pacer.h"

namespace raftperf::run {

/// Word from the outside to all workers; written by anyone, read once a turn.
class Signals {
 public:
  /// Nothing more is scheduled; answers are still awaited.
  void stop() noexcept { stop_.store(1, std::memory_order_relaxed); }
  /// Nothing is awaited any more.
  void abandon() noexcept { stop_.store(2, std::memory_order_relaxed); }
  [[nodiscard]] bool stopping() const noexcept { return level() >= 1; }
  [[nodiscard]] bool abandoning() const noexcept { return level() >= 2; }

  void tell_leader(int node, std::uint64_t term) noexcept {
    leader_.store((term << 16U) | static_cast<std::uint16_t>(node + 1), std::memory_order_relaxed);
  }
  /// Term and node in one word, so that they belong together; 0 if nothing was told.
  [[nodiscard]] std::uint64_t leader_word() const noexcept {
    return leader_.load(std::memory_order_relaxed);
  }
  static int leader_node(std::uint64_t word) noexcept {
    return static_cast<int>(word & 0xFFFFU) - 1;
  }
  static std::uint64_t leader_term(std::uint64_t word) noexcept { return word >> 16U; }

 private:
  [[nodiscard]] int level() const noexcept { return stop_.load(std::memory_order_relaxed); }

  std::atomic<int> stop_{0};
  std::atomic<std::uint64_t> leader_{0};
};

struct WorkerThreadOptions {
  load::WorkerOptions worker;
  PaceOptions pace;
  drivers::DriverConfig driver;
  std::optional<int> cpu;  ///< Pinned to it, if any.
};

/// One worker's thread: connects its driver, waits for the common start, turns until
/// the worker is finished.
class WorkerThread {
 public:
  /// Starts the thread, which connects at once. `schedule` and `signals` must outlive it.
  WorkerThread(const WorkerThreadOptions& options, const load::ArrivalSchedule* schedule,
               const drivers::DriverFactory& factory, const Signals& signals);
  ~WorkerThread();
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  /// Blocks until the driver is connected, or says why it is not.
  Result<void> connected();
  /// Lets a connected worker begin. Once.
  void start(load::TimePoint start);
  /// Ends a worker that was never started.
  void cancel();
  void join();

  /// What the thread did; valid after `join`, and the first three between `connected` and
  /// `start`.
  struct Report {
    drivers::TransportStats transport;
    std::uint32_t connections_at_start = 0;
    std::uint32_t request_bytes = 0;
    std::string pace;
    load::Duration cpu_time{0};  ///< Of this thread, from start to end.
  };
  [[nodiscard]] const Report& report() const noexcept { return report_; }
  /// Books and counters belong to the thread until `join`; `in_flight` and its like do not.
  [[nodiscard]] load::Worker& worker() noexcept { return *worker_; }

 private:
  void run(const drivers::DriverFactory& factory);
  void loop(drivers::Driver& driver);
  void obey_signals(load::TimePoint now, std::uint64_t& leader_word, bool& stopped);

  WorkerThreadOptions options_;
  MonotonicClock clock_;
  std::unique_ptr<load::Worker> worker_;
  const Signals& signals_;
  Report report_;
  std::promise<Result<void>> connected_;
  std::promise<std::optional<load::TimePoint>> start_;
  bool start_given_ = false;
  std::thread thread_;
};

}  // namespace raftperf::run
