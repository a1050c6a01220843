// SPDX-License-Identifier: Apache-2.0
#include "run/simulation.h"

#include <algorithm>
#include <memory>

#include "load/interval_merger.h"
#include "run/turn.h"

namespace raftperf::run {
namespace {

using load::Duration;
using load::TimePoint;

class SimulatedTime final : public load::TimeSource {
 public:
  TimePoint now() noexcept override { return now_; }
  void advance_to(TimePoint now) noexcept { now_ = now; }

 private:
  TimePoint now_{std::chrono::hours{1}};
};

/// Several workers, each with a simulated server of its own, on one simulated clock.
class Simulation {
 public:
  explicit Simulation(const SimulationOptions& options) : options_(options) {}

  Result<load::Summary> run();
  [[nodiscard]] std::uint64_t applied() const {
    std::uint64_t total = 0;
    for (const auto& driver : drivers_) {
      total += driver->applied();
    }
    return total;
  }

 private:
  Result<void> prepare();
  void loop();
  [[nodiscard]] bool all_finished() const;
  [[nodiscard]] TimePoint next_instant(const std::vector<TimePoint>& wakes) const;
  /// Moves the clock to `target`, or past the pauses of the client that begin before.
  Duration advance(TimePoint target);
  void sample(TimePoint until);

  SimulationOptions options_;
  SimulatedTime clock_;
  TimePoint start_;
  std::optional<load::ArrivalSchedule> schedule_;
  std::vector<std::unique_ptr<load::Worker>> workers_;
  std::vector<std::unique_ptr<load::CompletionSink>> sinks_;
  std::vector<std::unique_ptr<drivers::SimDriver>> drivers_;
  load::InFlightSamples in_flight_;
  std::uint64_t samples_ = 0;
};

Result<void> Simulation::prepare() {
  const bool open = options_.worker.mode == load::LoadMode::kOpen;
  if (open) {
    auto schedule = load::ArrivalSchedule::create(options_.schedule);
    if (!schedule) {
      return Error{schedule.error()};
    }
    schedule_ = *schedule;
    options_.worker.window = schedule_->window();
  } else {
    options_.worker.window = {.start = options_.schedule.warmup,
                              .end = options_.schedule.warmup + options_.schedule.measure};
  }
  const std::uint32_t slots = options_.slots != 0 ? options_.slots : (open ? 1000 : 100);
  start_ = clock_.now();
  for (std::uint32_t i = 0; i < options_.workers; ++i) {
    auto options = options_.worker;
    options.stripe = {.worker = i, .workers = options_.workers};
    options.slots = slots / options_.workers + (i < slots % options_.workers ? 1 : 0);
    workers_.push_back(
        std::make_unique<load::Worker>(options, open ? &*schedule_ : nullptr, clock_));
    sinks_.push_back(std::make_unique<load::CompletionSink>(*workers_.back()));
    drivers_.push_back(std::make_unique<drivers::SimDriver>(options_.server));
    if (const auto connected = drivers_.back()->connect(*sinks_.back()); !connected) {
      return connected;
    }
    workers_.back()->start(start_);
  }
  return {};
}

bool Simulation::all_finished() const {
  return std::all_of(workers_.begin(), workers_.end(),
                     [](const auto& worker) { return worker->finished(); });
}

TimePoint Simulation::next_instant(const std::vector<TimePoint>& wakes) const {
  TimePoint next = load::kNever;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (!workers_[i]->finished()) {
      next = std::min({next, wakes[i], drivers_[i]->next_answer()});
    }
  }
  return next;
}

void Simulation::sample(TimePoint until) {
  for (; start_ + load::sample_offset(samples_) <= until; ++samples_) {
    if (!options_.worker.window.contains(load::sample_offset(samples_))) {
      continue;
    }
    double total = 0;
    for (const auto& worker : workers_) {
      total += worker->in_flight();
    }
    in_flight_.add(total);
  }
}

Duration Simulation::advance(TimePoint target) {
  const TimePoint from = clock_.now();
  TimePoint to = std::max(from, target);
  Duration waited = to - from;
  for (const auto& stall : options_.client_stalls) {
    const TimePoint stall_start = start_ + stall.at;
    if (from < stall_start && to >= stall_start) {
      waited = stall_start - from;
      to = std::max(to, stall_start + stall.length);
    }
  }
  sample(to);
  clock_.advance_to(to + options_.gap);
  return waited;
}

void Simulation::loop() {
  std::vector<TimePoint> wakes(workers_.size(), start_);
  Duration waited{0};
  bool interrupted = false;
  while (!all_finished()) {
    if (options_.interrupt && !interrupted && clock_.now() >= start_ + *options_.interrupt) {
      interrupted = true;
      for (const auto& worker : workers_) {
        worker->stop(clock_.now());
      }
    }
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      if (!workers_[i]->finished()) {
        wakes[i] = turn(*workers_[i], *drivers_[i], waited);
      }
    }
    const TimePoint next = next_instant(wakes);
    waited = next == load::kNever ? Duration{0} : advance(next);
  }
}

Result<load::Summary> Simulation::run() {
  if (const auto ready = prepare(); !ready) {
    return Error{ready.error()};
  }
  std::vector<load::LatencyRecorder*> recorders;
  std::vector<load::Worker*> workers;
  for (const auto& worker : workers_) {
    recorders.push_back(&worker->recorder());
    workers.push_back(worker.get());
  }
  load::SummaryBuilder builder(options_.worker.mode, options_.worker.window,
                               workers_.front()->recorder().turn_gap().range_max());
  load::IntervalMerger merger(recorders,
                              [&](const load::Interval& interval) { builder.add(interval); });
  loop();
  merger.collect();
  load::Summary summary = std::move(builder).finish(workers);
  summary.burst = options_.schedule.burst;
  summary.in_flight = in_flight_;
  if (options_.worker.mode == load::LoadMode::kOpen) {
    summary.offered = options_.schedule.rate;
  }
  return summary;
}

}  // namespace

Result<SimulationResult> simulate(const SimulationOptions& options) {
  Simulation simulation(options);
  auto summary = simulation.run();
  if (!summary) {
    return Error{summary.error()};
  }
  return SimulationResult{.summary = *std::move(summary), .applied = simulation.applied()};
}

}  // namespace raftperf::run
