// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "load/operation.h"

namespace raftperf::load {

/// Why an operation was never put on the wire.
enum class Drop : std::uint8_t {
  kInflightCap,  ///< As many unanswered as allowed, when the rig handled it on time.
  kRigLate,      ///< The same, but handled more than 1 ms late: the rig's own fault.
  kNoLeader,     ///< At the cap or at its deadline while no leader was known.
  kNotAccepted,  ///< Offered to the driver until its deadline, in vain.
};
inline constexpr std::size_t kDropCount = 4;

enum class Unknown : std::uint8_t {
  kTimeout,         ///< The deadline passed.
  kConnectionLost,  ///< The driver lost the connection it was sent on.
  kUnanswered,      ///< Still unanswered when the drain ended.
};
inline constexpr std::size_t kUnknownCount = 3;

std::string_view to_string(Drop drop) noexcept;
std::string_view to_string(Unknown unknown) noexcept;

/// What became of operations. Every counter is incremented at its own event; none
/// is derived from the others, so that `imbalance` can find a bug.
struct Books {
  std::uint64_t scheduled = 0;
  std::uint64_t sent = 0;
  std::array<std::uint64_t, kDropCount> dropped{};
  std::uint64_t ok = 0;
  std::uint64_t rejected = 0;
  std::array<std::uint64_t, kUnknownCount> unknown{};

  [[nodiscard]] std::uint64_t dropped_total() const noexcept;
  [[nodiscard]] std::uint64_t unknown_total() const noexcept;
  [[nodiscard]] std::uint64_t count(Drop drop) const noexcept {
    return dropped[static_cast<std::size_t>(drop)];
  }
  [[nodiscard]] std::uint64_t count(Unknown kind) const noexcept {
    return unknown[static_cast<std::size_t>(kind)];
  }

  void add(const Books& other) noexcept;

  /// Empty if scheduled = sent + dropped and sent = ok + rejected + unknown and
  /// `recorded`, the count of the reported histogram with its overflow, is ok; else
  /// which of them fails, with both sides.
  [[nodiscard]] std::string imbalance(std::uint64_t recorded) const;

  friend bool operator==(const Books&, const Books&) = default;
};

/// Events beside the books: an operation may have several of them, or none.
struct Counts {
  std::uint64_t attempts = 0;   ///< Accepted by the driver, every attempt counted.
  std::uint64_t redirects = 0;  ///< Attempts answered with "not leader".
  std::uint64_t mismatches = 0;
  std::uint64_t at_cap = 0;  ///< Due instants that found the in-flight cap reached.
  std::array<std::uint64_t, kReasonCount> rejected_by{};  ///< Final rejections by reason.

  void add(const Counts& other) noexcept;
  friend bool operator==(const Counts&, const Counts&) = default;
};

}  // namespace raftperf::load
