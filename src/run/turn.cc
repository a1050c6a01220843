// SPDX-License-Identifier: Apache-2.0
#include "run/turn.h"

#include <algorithm>

namespace raftperf::run {

load::TimePoint turn(load::Worker& worker, drivers::Driver& driver, load::Duration waited) {
  const load::TimePoint start = worker.clock().now();
  worker.begin_turn(start, waited);
  driver.poll();
  // Reading answers took time; their stamp is a later present that costs no clock read.
  load::TimePoint now = std::max(start, worker.last_arrival());
  for (int node = worker.take_reconnect(now); node != load::kNoNode;
       node = worker.take_reconnect(now)) {
    driver.reconnect(static_cast<std::uint32_t>(node));
  }
  const auto operations = worker.due(now);
  if (!operations.empty()) {
    const std::size_t taken = driver.submit(operations);
    now = worker.clock().now();
    worker.accepted(taken, now);
  }
  worker.end_turn(now);
  return worker.next_wake();
}

}  // namespace raftperf::run
