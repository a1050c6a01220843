// SPDX-License-Identifier: Apache-2.0
#include "load/in_flight_table.h"

#include "base/check.h"

namespace raftperf::load {

InFlightTable::InFlightTable(std::uint32_t slots)
    : slots_(slots), links_(slots), unsent_(links_), sent_(links_) {
  CHECK(slots >= 1);
  CHECK(slots <= OperationId::kSlotsMax);
  free_.reserve(slots);
  for (std::uint32_t slot = slots; slot > 0; --slot) {
    free_.push_back(slot - 1);
  }
}

}  // namespace raftperf::load
