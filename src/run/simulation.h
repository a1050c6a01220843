// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "drivers/sim/sim_driver.h"
#include "load/summary.h"

namespace raftperf::run {

/// A run on simulated time: the rig itself, with a computed server and a clock that
/// jumps from event to event.
struct SimulationOptions {
  load::WorkerOptions worker;      ///< Without stripe, slots and window.
  load::ScheduleOptions schedule;  ///< In a closed loop only warm-up and measurement count.
  std::uint32_t workers = 1;       ///< Each with a server of its own.
  std::uint32_t slots = 0;         ///< In-flight cap or chains; 0: 1000 or 100.
  drivers::SimOptions server;
  std::vector<drivers::SimPeriod> client_stalls;  ///< The workers do not run inside them.
  std::optional<load::Duration> interrupt;        ///< When the user interrupts.
  load::Duration gap{0};                          ///< Lost in every turn, as on a busy machine.
};

struct SimulationResult {
  load::Summary summary;
  std::uint64_t applied = 0;  ///< By the servers: what the books are compared with.
};

/// Runs to the end. Takes the time of the computation only.
Result<SimulationResult> simulate(const SimulationOptions& options);

}  // namespace raftperf::run
