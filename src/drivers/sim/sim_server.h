// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "load/time.h"

namespace raftperf::drivers {

/// A stretch of time after the server's first instant.
struct SimPeriod {
  load::Duration at{0};
  load::Duration length{0};
};

enum class ServiceTime : std::uint8_t { kFixed, kExponential };

struct SimServerOptions {
  load::Duration service_time{0};
  ServiceTime distribution = ServiceTime::kFixed;
  std::uint32_t servers = 0;  ///< Parallel servers with one FIFO queue; 0 means unlimited.
  std::uint64_t seed = 1;
  std::vector<SimPeriod> stalls;  ///< No work is done inside them. Sorted, disjoint.
};

/// When a queueing server would answer: M/D/1, M/M/1, D/D/infinity and the like with
/// pauses, computed, not measured. The ground truth that the rig is held against.
class SimServer {
 public:
  SimServer(const SimServerOptions& options, load::TimePoint start);

  /// The instant at which a request that arrives now is answered. Arrivals must not go
  /// back in time.
  load::TimePoint answer(load::TimePoint arrival);

 private:
  [[nodiscard]] load::Duration next_service() noexcept;
  /// The end of `work` begun at `from`, pauses skipped.
  [[nodiscard]] load::TimePoint after_work(load::TimePoint from,
                                           load::Duration work) const noexcept;

  SimServerOptions options_;
  load::TimePoint start_;
  std::vector<load::TimePoint> free_at_;  ///< A heap: when each server is free.
  std::uint64_t served_ = 0;
};

}  // namespace raftperf::drivers
