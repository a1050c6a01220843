// SPDX-License-Identifier: Apache-2.0
#include "systems/libraft/server/state_machine.h"

#include <fmt/format.h>

#include <utility>

#include "base/check.h"
#include "wire/cpp/frame.h"

namespace raftperf::libraft {
namespace {

// "RPLIBRFT" and a version, so that a foreign file is told from ours.
constexpr std::uint64_t kSnapshotMagic = 0x54465242494C5052;
constexpr std::uint64_t kSnapshotVersion = 1;
constexpr std::size_t kSnapshotHeaderSize = 5 * sizeof(std::uint64_t);
constexpr std::size_t kPairSize = 2 * sizeof(std::uint64_t);

}  // namespace

std::optional<Applied> StateMachine::apply(std::span<const std::byte> buffer) {
  const std::optional<Entry> entry = parse_entry(buffer);
  if (!entry) {
    return std::nullopt;
  }
  Applied applied{.tag = entry->tag, .kind = entry->kind};
  switch (entry->kind) {
    case EntryKind::kAppend:
      ++operation_count_;
      checksum_ += wire::mix_append(entry->body);
      break;
    case EntryKind::kCompareAndSet:
      applied.value = compare_and_set(entry->body, applied.matched);
      break;
    case EntryKind::kRead:
      applied.value = wire::load<std::uint64_t>(entry->body.data());
      break;
  }
  return applied;
}

std::uint64_t StateMachine::compare_and_set(std::span<const std::byte> body, bool& matched) {
  const wire::CompareAndSet request = wire::get_compare_and_set(body);
  const auto found = values_.find(request.key);
  std::uint64_t value = found == values_.end() ? 0 : found->second;
  matched = value == request.expected;
  if (matched) {
    value = request.desired;
    if (found != values_.end()) {
      if (value == 0) {
        values_.erase(found);
      } else {
        found->second = value;
      }
    } else if (value != 0) {
      values_.emplace(request.key, value);
    }
  }
  ++operation_count_;
  checksum_ += wire::mix_compare_and_set(request, value);
  return value;
}

std::uint64_t StateMachine::get(std::uint64_t key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? 0 : found->second;
}

std::size_t StateMachine::snapshot_size() const noexcept {
  return kSnapshotHeaderSize + values_.size() * kPairSize;
}

void StateMachine::write_snapshot(std::span<std::byte> to) const {
  CHECK_EQ(to.size(), snapshot_size());
  std::byte* at = to.data();
  const auto put = [&at](std::uint64_t word) {
    wire::store(at, word);
    at += sizeof word;
  };
  put(kSnapshotMagic);
  put(kSnapshotVersion);
  put(operation_count_);
  put(checksum_);
  put(values_.size());
  for (const auto& [key, value] : values_) {
    put(key);
    put(value);
  }
}

Result<void> StateMachine::restore(std::span<const std::byte> snapshot) {
  if (snapshot.size() < kSnapshotHeaderSize) {
    return Error{fmt::format("a snapshot of {} bytes is too short", snapshot.size())};
  }
  const auto word = [&snapshot](std::size_t i) {
    return wire::load<std::uint64_t>(snapshot.data() + i * sizeof(std::uint64_t));
  };
  if (word(0) != kSnapshotMagic || word(1) != kSnapshotVersion) {
    return Error{"the snapshot is not one of this server's, or of another version"};
  }
  const std::uint64_t pairs = word(4);
  const std::size_t body = snapshot.size() - kSnapshotHeaderSize;
  if (body % kPairSize != 0 || pairs != body / kPairSize) {
    return Error{fmt::format("the snapshot says {} keys, but has {} bytes of them", pairs, body)};
  }
  std::unordered_map<std::uint64_t, std::uint64_t> values;
  values.reserve(pairs);
  for (std::uint64_t i = 0; i < pairs; ++i) {
    values.emplace(word(5 + 2 * i), word(6 + 2 * i));
  }
  values_ = std::move(values);
  operation_count_ = word(2);
  checksum_ = word(3);
  return {};
}

}  // namespace raftperf::libraft
