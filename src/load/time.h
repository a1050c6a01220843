// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace raftperf::load {

using Duration = std::chrono::nanoseconds;

/// An instant of the monotonic clock, or of the simulated one that stands in for it.
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

inline constexpr TimePoint kNever = TimePoint::max();

/// Where the present comes from. Nothing in `load/` reads a clock: a run hands in
/// the monotonic one (run/monotonic_clock.h), a scenario test a simulated one.
class TimeSource {
 public:
  virtual ~TimeSource() = default;
  [[nodiscard]] virtual TimePoint now() noexcept = 0;
};

}  // namespace raftperf::load
