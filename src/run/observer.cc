// SPDX-License-Identifier: Apache-2.0
#include "run/observer.h"

#include <algorithm>
#include <utility>

namespace raftperf::run {
namespace {

using load::Duration;
using load::TimePoint;

constexpr Duration kSampleLate = std::chrono::milliseconds{20};
constexpr Duration kProgressEvery = std::chrono::seconds{1};

std::vector<load::LatencyRecorder*> recorders_of(const std::vector<WorkerThread*>& workers) {
  std::vector<load::LatencyRecorder*> recorders;
  for (WorkerThread* worker : workers) {
    recorders.push_back(&worker->worker().recorder());
  }
  return recorders;
}

}  // namespace

Observer::Observer(std::vector<WorkerThread*> workers, load::LoadMode mode, load::Window window,
                   TimePoint start, const Signals& signals, ObserverCallbacks callbacks)
    : workers_(std::move(workers)),
      window_(window),
      start_(start),
      signals_(signals),
      callbacks_(std::move(callbacks)),
      builder_(mode, window, workers_.front()->worker().recorder().range_max()),
      merger_(recorders_of(workers_), [this](const load::Interval& interval) { emit(interval); }),
      idle_(kProgressEvery),
      next_second_(workers_.front()->worker().recorder().completions_first()),
      progress_at_(start + kProgressEvery),
      thread_([this] { run(); }) {}

Observer::~Observer() {
  ending_ = true;
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Observer::run() {
  MonotonicClock clock;
  // Sampling instants are fixed beforehand: sampling when the thread happens to wake
  // would see the system at its convenience.
  for (std::uint64_t i = 0; !ending_.load(); ++i) {
    const TimePoint next = start_ + load::sample_offset(i);
    std::this_thread::sleep_until(next);
    const TimePoint now = clock.now();
    if (now - next > kSampleLate) {
      continue;  // this process did not run: one sample for all that time, not many
    }
    sample(now);
    merger_.collect();
    if (now >= progress_at_) {
      report_progress(now);
    }
  }
}

void Observer::sample(TimePoint now) {
  const Duration offset = now - start_;
  if (!window_started_ && offset >= window_.start) {
    window_started_ = true;
    if (callbacks_.window_started) {
      callbacks_.window_started();
    }
  }
  if (!window_ended_ && offset >= window_.end) {
    window_ended_ = true;
    if (callbacks_.window_ended) {
      callbacks_.window_ended();
    }
  }
  if (callbacks_.sampled) {
    callbacks_.sampled();
  }
  double unanswered = 0;
  for (WorkerThread* worker : workers_) {
    unanswered += worker->worker().in_flight();
  }
  if (window_.contains(offset)) {
    in_flight_.add(unanswered);
  }
  Second& second = seconds_[load::interval_index(offset, window_)];
  second.in_flight.add(unanswered);
  second.leader_word = signals_.leader_word();
}

void Observer::report_progress(TimePoint now) {
  std::uint64_t completed = 0;
  std::uint64_t latency_ns = 0;
  std::uint64_t in_flight = 0;
  for (WorkerThread* worker : workers_) {
    completed += worker->worker().completed();
    latency_ns += worker->worker().latency_sum_ns();
    in_flight += worker->worker().in_flight();
  }
  const double seconds = std::chrono::duration<double>(now - progress_at_ + kProgressEvery).count();
  const std::uint64_t done = completed - progress_completed_;
  const Duration offset = now - start_;
  Progress progress{.elapsed = offset, .in_flight = in_flight};
  progress.phase = offset < window_.start ? load::Phase::kWarmup
                   : offset < window_.end ? load::Phase::kMeasurement
                                          : load::Phase::kDrain;
  progress.qps = static_cast<double>(done) / seconds;
  if (done > 0) {
    progress.latency_us =
        static_cast<double>(latency_ns - progress_latency_ns_) / static_cast<double>(done) / 1e3;
  }
  progress_completed_ = completed;
  progress_latency_ns_ = latency_ns;
  progress_at_ = now + kProgressEvery;
  if (callbacks_.progress) {
    callbacks_.progress(progress);
  }
}

std::uint64_t Observer::ok_in_second(std::int64_t index) const {
  std::uint64_t total = 0;
  for (WorkerThread* worker : workers_) {
    const load::LatencyRecorder& recorder = worker->worker().recorder();
    const auto at = static_cast<std::size_t>(index - recorder.completions_first());
    if (at < recorder.completions().size()) {
      total += recorder.completions()[at].load(std::memory_order_relaxed);
    }
  }
  return total;
}

void Observer::emit(const load::Interval& interval) {
  builder_.add(interval);
  report_idle_seconds_before(interval.index);
  report_second(interval);
}

void Observer::report_idle_seconds_before(std::int64_t index) {
  while (next_second_ < index) {
    idle_.reset(next_second_);
    if (next_second_ * load::kIntervalLength >= window_.end - window_.start) {
      idle_.phase = load::Phase::kDrain;
    }
    report_second(idle_);
  }
}

void Observer::report_second(const load::Interval& interval) {
  next_second_ = interval.index + 1;
  SecondReport report{.interval = interval,
                      .ok_by_completion = ok_in_second(interval.index),
                      .in_flight_mean = std::nullopt};
  if (const auto second = seconds_.find(interval.index); second != seconds_.end()) {
    report.in_flight_mean = second->second.in_flight.mean();
    report.leader = Signals::leader_node(second->second.leader_word);
    report.term = Signals::leader_term(second->second.leader_word);
  }
  seconds_.erase(seconds_.begin(), seconds_.upper_bound(interval.index));
  if (callbacks_.second) {
    callbacks_.second(report);
  }
}

load::Summary Observer::finish() {
  ending_ = true;
  thread_.join();
  if (!window_ended_ && callbacks_.window_ended) {
    callbacks_.window_ended();
  }
  merger_.collect();
  if (!seconds_.empty()) {
    report_idle_seconds_before(seconds_.rbegin()->first + 1);
  }
  std::vector<load::Worker*> workers;
  for (WorkerThread* worker : workers_) {
    workers.push_back(&worker->worker());
  }
  load::Summary summary = std::move(builder_).finish(workers);
  summary.in_flight = in_flight_;
  return summary;
}

}  // namespace raftperf::run
