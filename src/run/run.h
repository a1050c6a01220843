// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "drivers/registry.h"
#include "load/summary.h"
#include "run/observer.h"
#include "run/pacer.h"

namespace raftperf::run {

/// One run, every option resolved.
struct RunPlan {
  load::LoadMode mode = load::LoadMode::kClosed;
  load::ScheduleOptions schedule;   ///< In a closed loop only warm-up and measurement count.
  std::uint32_t outstanding = 100;  ///< Chains of a closed loop, or the in-flight cap.
  std::uint32_t workers = 1;
  load::WorkloadOptions workload;
  load::Duration timeout = std::chrono::seconds{5};
  load::Duration drain = std::chrono::seconds{5};
  load::NoLeaderPolicy no_leader = load::NoLeaderPolicy::kHold;
  load::SendStamp send_stamp = load::SendStamp::kOperation;
  int leader = load::kNoNode;
  Pace pace = Pace::kAuto;
  bool core_of_its_own = false;
  std::vector<int> cpus;         ///< Workers are pinned to them in turn; none: not pinned.
  drivers::DriverConfig driver;  ///< Without the slots, which the run fills in.
};

/// What a run gave, beside the seconds that were reported while it ran.
struct RunResult {
  load::Summary summary;
  drivers::TransportStats transport;
  std::uint32_t connections_at_start = 0;
  std::uint32_t request_bytes = 0;
  std::string pace;
  std::vector<load::Duration> worker_cpu_time;
  load::TimePoint start;  ///< What the schedule is relative to.
  std::chrono::system_clock::time_point window_start_utc;
};

/// What is wrong with a plan, without starting anything.
Result<void> check(const RunPlan& plan);

/// Connects, warms up, measures, drains. Blocks until it is over; `signals.stop` and
/// `signals.abandon` shorten it. An error only where nothing could be started, or where
/// fewer connections than asked stand at the start: then it says how many.
Result<RunResult> execute(const RunPlan& plan, const drivers::DriverFactory& factory,
                          const Signals& signals, const ObserverCallbacks& callbacks);

}  // namespace raftperf::run
