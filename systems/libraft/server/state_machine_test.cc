// SPDX-License-Identifier: Apache-2.0
#include "systems/libraft/server/state_machine.h"

#include <gtest/gtest.h>

#include <array>
#include <string_view>
#include <vector>

#include "systems/libraft/server/entry.h"
#include "wire/cpp/frame.h"

namespace raftperf::libraft {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

Bytes entry_of(EntryKind kind, const Bytes& body, EntryTag tag = {}) {
  Bytes buffer(entry_size(body.size()), std::byte{0xff});
  put(buffer.data(), Entry{.kind = kind, .tag = tag, .body = body});
  return buffer;
}

Bytes append_of(std::string_view payload) {
  return entry_of(EntryKind::kAppend, bytes_of(payload));
}

Bytes compare_and_set_of(const wire::CompareAndSet& request, EntryTag tag = {}) {
  Bytes body(24);
  wire::put(body.data(), request);
  return entry_of(EntryKind::kCompareAndSet, body, tag);
}

Bytes snapshot_of(const StateMachine& state) {
  Bytes snapshot(state.snapshot_size());
  state.write_snapshot(snapshot);
  return snapshot;
}

TEST(Entry, KeepsItsTagAndBodyAndIsPaddedToEightBytes) {
  const EntryTag tag{.incarnation = 0x1122334455667788, .sequence = 1ULL << 40U, .server = 2};
  for (std::size_t length = 1; length <= 17; ++length) {
    const Bytes body(length, std::byte{0xab});
    const Bytes buffer = entry_of(EntryKind::kAppend, body, tag);
    EXPECT_EQ(buffer.size() % 8, 0U);
    const auto entry = parse_entry(buffer);
    ASSERT_TRUE(entry);
    EXPECT_EQ(entry->tag, tag);
    EXPECT_EQ(entry->kind, EntryKind::kAppend);
    EXPECT_EQ(Bytes(entry->body.begin(), entry->body.end()), body);
    for (std::size_t i = kEntryHeaderSize + length; i < buffer.size(); ++i) {
      EXPECT_EQ(buffer[i], std::byte{0}) << "padding must not carry old memory into the log";
    }
  }
}

TEST(Entry, RefusesWhatIsNoneOfOurs) {
  const Bytes good = append_of("12345678");
  EXPECT_FALSE(parse_entry({}));
  EXPECT_FALSE(parse_entry(std::span(good).first(kEntryHeaderSize - 1)));
  EXPECT_FALSE(parse_entry(std::span(good).first(good.size() - 8)));
  Bytes longer = good;
  longer.resize(good.size() + 8);
  EXPECT_FALSE(parse_entry(longer));
  for (const std::size_t offset : {std::size_t{0}, std::size_t{1}}) {
    Bytes bad = good;
    bad[offset] = std::byte{77};
    EXPECT_FALSE(parse_entry(bad));
  }
  EXPECT_FALSE(parse_entry(entry_of(EntryKind::kCompareAndSet, bytes_of("12345678"))));
  EXPECT_FALSE(parse_entry(entry_of(EntryKind::kRead, bytes_of("1234567"))));
}

TEST(StateMachine, ComparesAndSets) {
  StateMachine state;
  EXPECT_EQ(state.get(7), 0U);
  auto applied = state.apply(compare_and_set_of({.key = 7, .expected = 0, .desired = 5}));
  ASSERT_TRUE(applied);
  EXPECT_TRUE(applied->matched);
  EXPECT_EQ(applied->value, 5U);
  applied = state.apply(compare_and_set_of({.key = 7, .expected = 4, .desired = 6}));
  ASSERT_TRUE(applied);
  EXPECT_FALSE(applied->matched);
  EXPECT_EQ(applied->value, 5U);
  EXPECT_EQ(state.get(7), 5U);
  applied = state.apply(compare_and_set_of({.key = 7, .expected = 5, .desired = 0}));
  ASSERT_TRUE(applied);
  EXPECT_TRUE(applied->matched);
  EXPECT_EQ(state.get(7), 0U);
  EXPECT_EQ(state.key_count(), 0U) << "a key set back to 0 takes no room";
  EXPECT_EQ(state.operation_count(), 3U);
}

TEST(StateMachine, AMismatchOnAnAbsentKeyLeavesNothing) {
  StateMachine state;
  const auto applied = state.apply(compare_and_set_of({.key = 1, .expected = 9, .desired = 2}));
  ASSERT_TRUE(applied);
  EXPECT_FALSE(applied->matched);
  EXPECT_EQ(applied->value, 0U);
  EXPECT_EQ(state.key_count(), 0U);
}

TEST(StateMachine, CountsAndSumsAsTheSpecificationSays) {
  StateMachine state;
  std::uint64_t sum = 0;
  ASSERT_TRUE(state.apply(append_of("hello")));
  sum += wire::mix_append(bytes_of("hello"));
  ASSERT_TRUE(state.apply(compare_and_set_of({.key = 1, .expected = 0, .desired = 2})));
  sum += wire::mix_compare_and_set({.key = 1, .expected = 0, .desired = 2}, 2);
  ASSERT_TRUE(state.apply(compare_and_set_of({.key = 1, .expected = 0, .desired = 3})));
  sum += wire::mix_compare_and_set({.key = 1, .expected = 0, .desired = 3}, 2);
  EXPECT_EQ(state.checksum(), sum);
  EXPECT_EQ(state.operation_count(), 3U);
}

TEST(StateMachine, AReadChangesNothing) {
  StateMachine state;
  Bytes count(8);
  wire::store<std::uint64_t>(count.data(), 12);
  const auto applied = state.apply(entry_of(EntryKind::kRead, count));
  ASSERT_TRUE(applied);
  EXPECT_EQ(applied->value, 12U);
  EXPECT_EQ(state.operation_count(), 0U);
  EXPECT_EQ(state.checksum(), 0U);
}

TEST(StateMachine, AMalformedEntryChangesNothing) {
  StateMachine state;
  EXPECT_FALSE(state.apply(bytes_of("nonsense")));
  EXPECT_EQ(state.operation_count(), 0U);
}

TEST(StateMachine, ASnapshotGoesOnWhereItWasTaken) {
  StateMachine original;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ASSERT_TRUE(original.apply(compare_and_set_of({.key = i, .expected = 0, .desired = i * i})));
    ASSERT_TRUE(original.apply(append_of("payload")));
  }
  StateMachine copy;
  ASSERT_TRUE(copy.apply(append_of("what it held before is replaced")));
  ASSERT_TRUE(copy.restore(snapshot_of(original)).ok());
  EXPECT_EQ(copy.operation_count(), original.operation_count());
  EXPECT_EQ(copy.checksum(), original.checksum());
  EXPECT_EQ(copy.key_count(), original.key_count());
  for (StateMachine* state : {&original, &copy}) {
    ASSERT_TRUE(state->apply(compare_and_set_of({.key = 3, .expected = 9, .desired = 1})));
  }
  EXPECT_EQ(copy.get(3), 1U);
  EXPECT_EQ(copy.checksum(), original.checksum());
}

TEST(StateMachine, AnEmptyStateHasASnapshotToo) {
  StateMachine state;
  ASSERT_TRUE(state.apply(append_of("x")));
  ASSERT_TRUE(state.restore(snapshot_of(StateMachine())).ok());
  EXPECT_EQ(state.operation_count(), 0U);
}

TEST(StateMachine, ABrokenSnapshotIsRefusedAndChangesNothing) {
  StateMachine state;
  ASSERT_TRUE(state.apply(compare_and_set_of({.key = 1, .expected = 0, .desired = 2})));
  const Bytes good = snapshot_of(state);
  const std::uint64_t checksum = state.checksum();
  std::vector<Bytes> broken = {{}, Bytes(good.begin(), good.end() - 8)};
  for (const std::size_t offset : {std::size_t{0}, std::size_t{8}, std::size_t{32}}) {
    broken.push_back(good);
    broken.back()[offset] ^= std::byte{1};
  }
  for (const Bytes& snapshot : broken) {
    EXPECT_FALSE(state.restore(snapshot).ok());
    EXPECT_EQ(state.get(1), 2U);
    EXPECT_EQ(state.checksum(), checksum);
  }
}

}  // namespace
}  // namespace raftperf::libraft
