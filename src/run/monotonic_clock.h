// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>

#include "load/time.h"

namespace raftperf::run {

/// CLOCK_MONOTONIC, as std::chrono::steady_clock reads it. About 20 ns a read.
class MonotonicClock final : public load::TimeSource {
 public:
  load::TimePoint now() noexcept override {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return load::TimePoint{std::chrono::seconds{now.tv_sec} +
                           std::chrono::nanoseconds{now.tv_nsec}};
  }
};

}  // namespace raftperf::run
