// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "wire/cpp/frame.h"

namespace raftperf::stub {

/// A stretch of time, counted from the first operation.
struct Window {
  std::chrono::nanoseconds at{0};
  std::chrono::nanoseconds length{0};

  [[nodiscard]] bool contains(std::chrono::nanoseconds elapsed) const noexcept {
    return elapsed >= at && elapsed - at < length;
  }
};

/// What goes wrong with one operation.
enum class Fault : std::uint8_t {
  kNone,
  kNotLeader,        ///< Redirected, not applied.
  kDrop,             ///< Neither applied nor answered.
  kHold,             ///< Applied; answered only when the stub drains.
  kApplyThenClose,   ///< Applied; the connection is closed instead of an answer.
  kAckWithoutApply,  ///< Answered ok as if applied, which it is not. A get is not affected.
  kError,            ///< Refused with an error text, not applied.
  kBusy,             ///< Refused, not applied.
  kMismatch,         ///< compare_and_set only: counted as applied, state unchanged.
};

/// Which operations go wrong. Operations (append, compare_and_set, get) are numbered
/// from 1 in the order of receipt over all connections; "every N" hits N, 2N, 3N ...,
/// 0 means never. Where several faults meet, the first in the order of `Fault` wins.
struct FaultPlan {
  std::uint64_t drop_every = 0;
  std::uint64_t hold_every = 0;
  std::uint64_t apply_then_close_every = 0;
  std::uint64_t ack_without_apply_every = 0;
  std::uint64_t error_every = 0;
  std::uint64_t busy_every = 0;
  std::uint64_t mismatch_every = 0;  ///< Counts compare_and_sets, not operations.
  bool never_leader = false;         ///< Redirects every operation.
  std::vector<Window> not_leader_windows;
  std::int32_t not_leader_hint = wire::kNoNode;
};

/// Decides the fault of each operation. One thread.
class Faults {
 public:
  explicit Faults(FaultPlan plan);

  /// The fault of the next operation, received `elapsed` after the first one.
  Fault next(wire::Kind kind, std::chrono::nanoseconds elapsed) noexcept {
    ++operations_;
    return active_ ? next_of_plan(kind, elapsed) : Fault::kNone;
  }

  /// Whether the node denies being the leader `elapsed` after the first operation.
  [[nodiscard]] bool denies_leadership(std::chrono::nanoseconds elapsed) const noexcept;
  [[nodiscard]] std::int32_t hint() const noexcept { return plan_.not_leader_hint; }

 private:
  Fault next_of_plan(wire::Kind kind, std::chrono::nanoseconds elapsed) noexcept;

  FaultPlan plan_;
  bool active_;
  std::uint64_t operations_ = 0;
  std::uint64_t compare_and_sets_ = 0;
};

}  // namespace raftperf::stub
