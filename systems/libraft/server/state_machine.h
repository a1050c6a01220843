// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#include "base/result.h"
#include "systems/libraft/server/entry.h"

namespace raftperf::libraft {

/// What applying one entry did.
struct Applied {
  EntryTag tag;
  EntryKind kind = EntryKind::kAppend;
  bool matched = true;      ///< False: a compare_and_set found another value.
  std::uint64_t value = 0;  ///< compare_and_set: the value now. read: how many reads wait.
};

/// The replicated state (wire/SPEC.md): a map from u64 to u64 where a key never
/// written is 0, the number of operations applied, and their checksum.
///
/// Deterministic: the same entries in the same order give the same state on every
/// node. One thread. Knows nothing of Raft.
class StateMachine {
 public:
  /// Applies one log entry; nothing if it is malformed, and then nothing changed.
  std::optional<Applied> apply(std::span<const std::byte> entry);

  /// 0 for a key never written.
  [[nodiscard]] std::uint64_t get(std::uint64_t key) const;

  [[nodiscard]] std::uint64_t operation_count() const noexcept { return operation_count_; }
  [[nodiscard]] std::uint64_t checksum() const noexcept { return checksum_; }
  [[nodiscard]] std::size_t key_count() const noexcept { return values_.size(); }

  /// Bytes that a snapshot of the present state takes; a multiple of 8.
  [[nodiscard]] std::size_t snapshot_size() const noexcept;

  /// Writes the present state. REQUIRES: `to` has exactly snapshot_size() bytes.
  void write_snapshot(std::span<std::byte> to) const;

  /// Replaces the state by a snapshot's. On an error the state stays as it was.
  Result<void> restore(std::span<const std::byte> snapshot);

 private:
  std::uint64_t compare_and_set(std::span<const std::byte> body, bool& matched);

  // Only values other than 0, so that a key set back to 0 takes no room.
  std::unordered_map<std::uint64_t, std::uint64_t> values_;
  std::uint64_t operation_count_ = 0;
  std::uint64_t checksum_ = 0;
};

}  // namespace raftperf::libraft
