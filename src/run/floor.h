// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "record/run_record.h"
#include "run/run.h"

namespace raftperf::run {

/// Runs the plan's driver, workload and pace against the stub for less than a second:
/// once with one outstanding, once with as many as the plan allows. What cannot be
/// measured stays absent; a run does without its floor.
record::FloorRecord measure_floor(const RunPlan& plan, const drivers::DriverFactory& factory,
                                  const std::filesystem::path& stub_program);

}  // namespace raftperf::run
