// SPDX-License-Identifier: Apache-2.0
#include "systems/libraft/server/entry.h"

#include <cstring>

#include "wire/cpp/frame.h"

namespace raftperf::libraft {

void put(std::byte* to, const Entry& entry) noexcept {
  const std::size_t length = entry.body.size();
  wire::store(to, static_cast<std::uint8_t>(entry.kind));
  wire::store(to + 1, kEntryFormat);
  wire::store(to + 2, entry.tag.server);
  wire::store(to + 4, static_cast<std::uint32_t>(length));
  wire::store(to + 8, entry.tag.incarnation);
  wire::store(to + 16, entry.tag.sequence);
  if (length > 0) {
    std::memcpy(to + kEntryHeaderSize, entry.body.data(), length);
  }
  const std::size_t end = kEntryHeaderSize + length;
  std::memset(to + end, 0, entry_size(length) - end);
}

std::optional<Entry> parse_entry(std::span<const std::byte> buffer) noexcept {
  if (buffer.size() < kEntryHeaderSize) {
    return std::nullopt;
  }
  const auto kind = wire::load<std::uint8_t>(buffer.data());
  const auto format = wire::load<std::uint8_t>(buffer.data() + 1);
  const std::size_t length = wire::load<std::uint32_t>(buffer.data() + 4);
  if (format != kEntryFormat || buffer.size() != entry_size(length)) {
    return std::nullopt;
  }
  Entry entry;
  entry.kind = static_cast<EntryKind>(kind);
  entry.tag.server = wire::load<std::uint16_t>(buffer.data() + 2);
  entry.tag.incarnation = wire::load<std::uint64_t>(buffer.data() + 8);
  entry.tag.sequence = wire::load<std::uint64_t>(buffer.data() + 16);
  entry.body = buffer.subspan(kEntryHeaderSize, length);
  switch (entry.kind) {
    case EntryKind::kAppend:
      return length > 0 ? std::optional(entry) : std::nullopt;
    case EntryKind::kCompareAndSet:
      return length == 3 * sizeof(std::uint64_t) ? std::optional(entry) : std::nullopt;
    case EntryKind::kRead:
      return length == sizeof(std::uint64_t) ? std::optional(entry) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace raftperf::libraft
