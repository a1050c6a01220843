// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "load/time.h"
#include "load/worker.h"

namespace raftperf::run {

/// How a worker waits for its next due instant.
enum class Pace : std::uint8_t {
  kAuto,   ///< Spin or block, by whether the client has a core of its own.
  kSpin,   ///< Polls without a pause: needs a core of its own.
  kPark,   ///< Sleeps in 50 us steps while more than 150 us remain.
  kBlock,  ///< Waits in the kernel for an answer or until shortly before the due instant.
};

std::string_view to_string(Pace pace) noexcept;

struct PaceOptions {
  Pace pace = Pace::kAuto;
  load::LoadMode mode = load::LoadMode::kOpen;
  bool core_of_its_own = false;  ///< The client has a core that no server runs on.
};

/// Waits between turns, for one worker's thread.
class Pacer {
 public:
  explicit Pacer(const PaceOptions& options) noexcept;

  /// Sets up the calling thread: timer slack of 1 ns, and SCHED_FIFO priority 1 where
  /// this pace may use it and the system permits it. Says what was done.
  std::string prepare_thread() const;

  /// Waits until `next` is near or, where the pace can, `descriptor` is readable.
  /// Returns the part of the time during which an answer would have ended the wait:
  /// what is slept deaf, or overslept, is not in it.
  load::Duration wait(load::TimePoint next, int descriptor, load::TimeSource& clock) const noexcept;

 private:
  [[nodiscard]] load::Duration block(load::TimePoint next, int descriptor, load::TimePoint now,
                                     load::TimeSource& clock) const noexcept;

  Pace pace_;
  load::Duration spin_below_{0};  ///< Shorter gaps are spun through.
  load::Duration margin_{0};      ///< Blocking ends so long before the due instant.
  bool realtime_ = false;
};

}  // namespace raftperf::run
