// SPDX-License-Identifier: Apache-2.0
//
// What this server puts into the Raft log: a fixed header of 24 bytes, then the body,
// padded with zero bytes to a multiple of 8 (libraft writes entries 8-byte aligned).
//
//   offset  size  field
//   0       1     kind: 2 append, 3 compare_and_set, 4 read
//   1       1     format, 1
//   2       2     server: the node that proposed it
//   4       4     body_length, without the padding
//   8       8     incarnation of that server's process
//   16      8     sequence within that incarnation
//   24      ...   body: the payload; key, expected, desired; or the number of reads
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace raftperf::libraft {

enum class EntryKind : std::uint8_t {
  kAppend = 2,
  kCompareAndSet = 3,
  kRead = 4,  ///< Changes nothing: when it is applied, the reads that wait for it are answered.
};

/// Whose entry it is. One call of `raft_apply` with many entries has one callback, so
/// each entry says by itself which request it answers.
struct EntryTag {
  std::uint64_t incarnation = 0;
  std::uint64_t sequence = 0;
  std::uint16_t server = 0;

  friend bool operator==(const EntryTag&, const EntryTag&) = default;
};

struct Entry {
  EntryKind kind = EntryKind::kAppend;
  EntryTag tag;
  std::span<const std::byte> body;
};

inline constexpr std::size_t kEntryHeaderSize = 24;
inline constexpr std::uint8_t kEntryFormat = 1;

/// Bytes that an entry with this body takes in the log.
[[nodiscard]] constexpr std::size_t entry_size(std::size_t body_length) noexcept {
  return kEntryHeaderSize + ((body_length + 7) & ~std::size_t{7});
}

/// Writes the entry. REQUIRES: `to` has entry_size(entry.body.size()) bytes.
void put(std::byte* to, const Entry& entry) noexcept;

/// The entry in `buffer`, its body a view into it, or nothing if it is none of ours.
[[nodiscard]] std::optional<Entry> parse_entry(std::span<const std::byte> buffer) noexcept;

}  // namespace raftperf::libraft
