// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "drivers/driver.h"
#include "load/worker.h"

namespace raftperf::run {

/// One turn of the loop that joins a worker with its driver; the same on real and on
/// simulated time. Never blocks. Returns when there is something to do next, if no
/// answer comes before: at or before now means at once.
load::TimePoint turn(load::Worker& worker, drivers::Driver& driver, load::Duration waited);

}  // namespace raftperf::run
