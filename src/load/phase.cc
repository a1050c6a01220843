// SPDX-License-Identifier: Apache-2.0
#include "load/phase.h"

namespace raftperf::load {

std::string_view to_string(Phase phase) noexcept {
  switch (phase) {
    case Phase::kWarmup:
      return "warmup";
    case Phase::kMeasurement:
      return "measurement";
    case Phase::kDrain:
      return "drain";
  }
  return "?";
}

}  // namespace raftperf::load
