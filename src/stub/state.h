// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "wire/cpp/frame.h"

namespace raftperf::stub {

/// The state machine of wire/SPEC.md in memory: a compare-and-set map, a count of
/// operations and their checksum. Allocates for keys not seen before only. One thread.
class State {
 public:
  struct Compared {
    bool matched = false;
    std::uint64_t value = 0;  ///< The value after it.
  };

  State();

  /// Returns the new entry's log index, from 1.
  std::uint64_t append(std::span<const std::byte> payload) noexcept;

  Compared compare_and_set(const wire::CompareAndSet& request);

  /// Counts the operation as one whose comparison failed, whatever the value is.
  Compared mismatch(const wire::CompareAndSet& request) noexcept;

  /// What `compare_and_set` would answer; changes nothing.
  [[nodiscard]] Compared peek(const wire::CompareAndSet& request) const noexcept;

  /// The key's value; 0 if never written.
  [[nodiscard]] std::uint64_t get(std::uint64_t key) const noexcept;

  /// Every operation is one log entry, so this is the log index too.
  [[nodiscard]] std::uint64_t operation_count() const noexcept { return operation_count_; }
  [[nodiscard]] std::uint64_t checksum() const noexcept { return checksum_; }

 private:
  std::unordered_map<std::uint64_t, std::uint64_t> values_;
  std::uint64_t operation_count_ = 0;
  std::uint64_t checksum_ = 0;
};

}  // namespace raftperf::stub
