// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "load/time.h"

namespace raftperf::load {

/// A run warms up, measures, and drains. Which phase an operation belongs to is
/// decided by its number, that is by its intended start, never by its answer.
enum class Phase : std::uint8_t {
  kWarmup,       ///< Scheduled before the window; sent and booked, shown apart.
  kMeasurement,  ///< Scheduled inside the window: what the result is made of.
  kDrain,        ///< Nothing is scheduled any more; answers are awaited.
};

std::string_view to_string(Phase phase) noexcept;

/// The measured part of a run, relative to the run's first instant. Half-open.
struct Window {
  Duration start{0};
  Duration end{0};

  [[nodiscard]] bool contains(Duration offset) const noexcept {
    return offset >= start && offset < end;
  }
};

}  // namespace raftperf::load
