// SPDX-License-Identifier: Apache-2.0
#include "load/in_flight_table.h"

#include "base/check.h"

namespace raftperf::load {

void SlotList::push_back(std::uint32_t slot) noexcept {
  previous_[slot] = tail_;
  next_[slot] = kNoSlot;
  (tail_ == kNoSlot ? head_ : next_[tail_]) = slot;
  tail_ = slot;
  ++size_;
}

void SlotList::push_front(std::uint32_t slot) noexcept {
  next_[slot] = head_;
  previous_[slot] = kNoSlot;
  (head_ == kNoSlot ? tail_ : previous_[head_]) = slot;
  head_ = slot;
  ++size_;
}

void SlotList::remove(std::uint32_t slot) noexcept {
  const std::uint32_t before = previous_[slot];
  const std::uint32_t after = next_[slot];
  (before == kNoSlot ? head_ : next_[before]) = after;
  (after == kNoSlot ? tail_ : previous_[after]) = before;
  --size_;
}

InFlightTable::InFlightTable(std::uint32_t slots) : slots_(slots), unsent_(slots), sent_(slots) {
  CHECK(slots >= 1);
  CHECK(slots <= OperationId::kSlotsMax);
  free_.reserve(slots);
  for (std::uint32_t slot = slots; slot > 0; --slot) {
    free_.push_back(slot - 1);
  }
}

std::uint32_t InFlightTable::take() noexcept {
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  Slot& taken = slots_[slot];
  taken.state = Slot::State::kWaiting;
  taken.sent_once = false;
  taken.attempts = 0;
  unsent_.push_back(slot);
  return slot;
}

void InFlightTable::mark_sent(std::uint32_t slot, TimePoint deadline) noexcept {
  Slot& marked = slots_[slot];
  if (marked.sent_once) {
    return;
  }
  marked.sent_once = true;
  marked.deadline = deadline;
  unsent_.remove(slot);
  sent_.push_back(slot);
}

void InFlightTable::release(std::uint32_t slot) noexcept {
  Slot& released = slots_[slot];
  (released.sent_once ? sent_ : unsent_).remove(slot);
  released.state = Slot::State::kFree;
  released.interval = nullptr;
  ++released.generation;
  free_.push_back(slot);
}

std::optional<std::uint32_t> InFlightTable::find_sent(OperationId id) const noexcept {
  const std::uint32_t slot = id.slot();
  if (slot >= slots_.size() || slots_[slot].state != Slot::State::kSent ||
      OperationId(slot, slots_[slot].generation) != id) {
    return std::nullopt;
  }
  return slot;
}

}  // namespace raftperf::load
