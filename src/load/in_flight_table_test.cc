// SPDX-License-Identifier: Apache-2.0
#include "load/in_flight_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace raftperf::load {
namespace {

std::vector<std::uint32_t> contents(const SlotList& list) {
  std::vector<std::uint32_t> slots;
  for (std::uint32_t slot = list.front(); slot != kNoSlot; slot = list.next(slot)) {
    slots.push_back(slot);
  }
  return slots;
}

TEST(SlotList, IsAsANaiveListDoes) {
  constexpr std::uint32_t kSlots = 40;
  std::vector<SlotLink> links(kSlots);
  // Two lists on one array of links, no slot in both.
  SlotList lists[2] = {SlotList(links), SlotList(links)};
  std::vector<std::uint32_t> naive[2];
  std::mt19937 random(3);
  for (int step = 0; step < 20'000; ++step) {
    const auto slot = static_cast<std::uint32_t>(random() % kSlots);
    const std::size_t which = random() % 2;
    bool listed = false;
    for (std::size_t i = 0; i < 2; ++i) {
      if (const auto found = std::find(naive[i].begin(), naive[i].end(), slot);
          found != naive[i].end()) {
        naive[i].erase(found);
        lists[i].remove(slot);
        listed = true;
      }
    }
    if (!listed) {
      naive[which].push_back(slot);
      lists[which].push_back(slot);
    }
    for (std::size_t i = 0; i < 2; ++i) {
      ASSERT_EQ(contents(lists[i]), naive[i]) << "step " << step;
      ASSERT_EQ(lists[i].empty(), naive[i].empty());
    }
  }
}

/// What the table should hold, found by searching.
struct Naive {
  std::vector<std::uint32_t> free;
  std::vector<std::uint32_t> unsent;
  std::vector<std::uint32_t> sent;
};

std::uint32_t pick(std::vector<std::uint32_t>& from, std::mt19937& random) {
  const auto at = from.begin() + static_cast<std::ptrdiff_t>(random() % from.size());
  const std::uint32_t slot = *at;
  from.erase(at);
  return slot;
}

TEST(InFlightTable, IsAsANaiveTableDoes) {
  constexpr std::uint32_t kSlots = 30;
  InFlightTable table(kSlots);
  Naive naive;
  for (std::uint32_t slot = kSlots; slot > 0; --slot) {
    naive.free.push_back(slot - 1);
  }
  std::mt19937 random(5);
  for (int step = 0; step < 20'000; ++step) {
    const auto action = random() % 3;
    if (action == 0 && !table.full()) {
      const std::uint32_t slot = table.take();
      ASSERT_EQ(slot, naive.free.back()) << "the slot that was freed last";
      naive.free.pop_back();
      naive.unsent.push_back(slot);
    } else if (action == 1 && !naive.unsent.empty()) {
      const std::uint32_t slot = pick(naive.unsent, random);
      table.mark_sent(slot, TimePoint{});
      naive.sent.push_back(slot);
    } else if (action == 2) {
      auto& from = random() % 2 == 0 ? naive.unsent : naive.sent;
      if (!from.empty()) {
        const std::uint32_t slot = pick(from, random);
        table.release(slot);
        naive.free.push_back(slot);
      }
    }
    ASSERT_EQ(contents(table.unsent()), naive.unsent) << "step " << step;
    ASSERT_EQ(contents(table.sent()), naive.sent) << "step " << step;
    ASSERT_EQ(table.size(), kSlots - naive.free.size());
    ASSERT_EQ(table.full(), naive.free.empty());
  }
}

TEST(InFlightTable, FindsOnlyThePresentAttempt) {
  InFlightTable table(2);
  const std::uint32_t slot = table.take();
  const OperationId first(slot, ++table[slot].generation);
  EXPECT_EQ(table.find_sent(first), kNoSlot) << "it is not with the driver yet";
  table[slot].state = Slot::State::kSent;
  table.mark_sent(slot, TimePoint{});
  EXPECT_EQ(table.find_sent(first), slot);

  table[slot].state = Slot::State::kWaiting;  // rejected
  EXPECT_EQ(table.find_sent(first), kNoSlot);
  const OperationId second(slot, ++table[slot].generation);
  table[slot].state = Slot::State::kSent;
  EXPECT_EQ(table.find_sent(first), kNoSlot) << "an answer to an attempt that is over";
  EXPECT_EQ(table.find_sent(second), slot);

  table.release(slot);
  EXPECT_EQ(table.find_sent(second), kNoSlot);
  EXPECT_EQ(table.take(), slot);
  table[slot].state = Slot::State::kSent;
  EXPECT_EQ(table.find_sent(second), kNoSlot) << "of the operation before";
  EXPECT_EQ(table.find_sent(OperationId(99, 1)), kNoSlot) << "a slot that does not exist";
}

TEST(InFlightTable, KeepsWhatTheSlotKnows) {
  InFlightTable table(1);
  const std::uint32_t slot = table.take();
  table[slot].last_known = 42;
  table.release(slot);
  EXPECT_EQ(table[table.take()].last_known, 42U);
}

TEST(OperationId, HoldsSlotAndGeneration) {
  for (const std::uint32_t slot : {0U, 1U, OperationId::kSlotsMax - 1}) {
    for (const std::uint64_t generation :
         {std::uint64_t{0}, std::uint64_t{1}, (std::uint64_t{1} << 42U) - 1}) {
      const OperationId id(slot, generation);
      EXPECT_EQ(id.slot(), slot);
      EXPECT_EQ(id.bits() >> OperationId::kSlotBits, generation);
      EXPECT_EQ(OperationId(id.bits()), id);
    }
  }
  EXPECT_NE(OperationId(1, 2), OperationId(1, 3));
  EXPECT_NE(OperationId(1, 2), OperationId(2, 2));
}

TEST(Operation, WritesAPayloadThatDependsOnItsValueAlone) {
  Operation operation{.value = 5};
  std::vector<std::byte> whole(64);
  write_payload(operation, whole);
  operation.key = 9;
  for (const std::size_t size : {0U, 1U, 7U, 8U, 9U, 63U}) {
    std::vector<std::byte> part(size);
    write_payload(operation, part);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin())) << size;
  }
  operation.value = 6;
  std::vector<std::byte> other(64);
  write_payload(operation, other);
  EXPECT_NE(whole, other);
}

}  // namespace
}  // namespace raftperf::load
