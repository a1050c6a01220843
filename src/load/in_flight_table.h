// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "load/operation.h"
#include "load/time.h"

namespace raftperf::load {

struct Interval;

inline constexpr std::uint32_t kNoSlot = 0xFFFFFFFF;

/// One operation between its due instant and its end, and what its slot remembers.
struct Slot {
  enum class State : std::uint8_t {
    kFree,
    kWaiting,  ///< Due, not (or, after a rejection, no longer) with the driver.
    kOffered,  ///< In the batch that the driver is being asked to take.
    kSent,     ///< With the driver; an answer is awaited.
  };

  TimePoint intended_start;
  TimePoint first_attempt;   ///< When the rig first handled it.
  TimePoint first_accepted;  ///< When the driver took its first attempt: the actual send.
  TimePoint deadline;        ///< Counts from the actual send, before that from `first_attempt`.
  std::uint64_t k = 0;
  std::uint64_t generation = 0;  ///< Raised with every attempt: an old answer finds no slot.
  std::uint64_t last_known = 0;  ///< The last known value of the slot's key; outlives operations.
  Interval* interval = nullptr;  ///< Where it is booked.
  std::uint32_t node = 0;        ///< Where the present attempt went.
  State state = State::kFree;
  bool sent_once = false;
};

struct SlotLink {
  std::uint32_t next = kNoSlot;
  std::uint32_t previous = kNoSlot;
};

/// Doubly linked list of slots, threaded through an array of links that lists can share
/// as long as no slot is in two of them; O(1) everywhere.
class SlotList {
 public:
  /// `links` must outlive the list and not move.
  explicit SlotList(std::vector<SlotLink>& links) noexcept : links_(links.data()) {}

  [[nodiscard]] bool empty() const noexcept { return head_ == kNoSlot; }
  [[nodiscard]] std::uint32_t front() const noexcept { return head_; }
  [[nodiscard]] std::uint32_t next(std::uint32_t slot) const noexcept { return links_[slot].next; }

  void push_back(std::uint32_t slot) noexcept {
    links_[slot] = {.next = kNoSlot, .previous = tail_};
    (tail_ == kNoSlot ? head_ : links_[tail_].next) = slot;
    tail_ = slot;
  }

  void remove(std::uint32_t slot) noexcept {
    const SlotLink link = links_[slot];
    (link.previous == kNoSlot ? head_ : links_[link.previous].next) = link.next;
    (link.next == kNoSlot ? tail_ : links_[link.next].previous) = link.previous;
  }

 private:
  SlotLink* links_;
  std::uint32_t head_ = kNoSlot;
  std::uint32_t tail_ = kNoSlot;
};

/// A fixed number of preallocated slots: the unanswered operations of one worker.
/// Its size is the in-flight cap. Two lists order the slots by deadline, since a
/// deadline is a constant time after the first attempt or after the first send.
/// The path of every operation is inline: it is a large part of what the rig costs.
class InFlightTable {
 public:
  /// REQUIRES: 1 <= slots <= OperationId::kSlotsMax.
  explicit InFlightTable(std::uint32_t slots);
  InFlightTable(const InFlightTable&) = delete;
  InFlightTable& operator=(const InFlightTable&) = delete;

  [[nodiscard]] bool full() const noexcept { return free_.empty(); }
  [[nodiscard]] std::uint32_t size() const noexcept {
    return capacity() - static_cast<std::uint32_t>(free_.size());
  }
  [[nodiscard]] std::uint32_t capacity() const noexcept {
    return static_cast<std::uint32_t>(slots_.size());
  }

  /// Takes the free slot that was freed last and puts it among the unsent. In a closed
  /// loop a free slot is a chain whose last answer has come, so any of them will do.
  /// REQUIRES: !full().
  std::uint32_t take() noexcept {
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    slots_[slot].state = Slot::State::kWaiting;
    slots_[slot].sent_once = false;
    unsent_.push_back(slot);
    return slot;
  }

  /// The first actual send: from now on the deadline is `deadline`. REQUIRES: unsent.
  void mark_sent(std::uint32_t slot, TimePoint deadline) noexcept {
    slots_[slot].sent_once = true;
    slots_[slot].deadline = deadline;
    unsent_.remove(slot);
    sent_.push_back(slot);
  }

  void release(std::uint32_t slot) noexcept {
    Slot& released = slots_[slot];
    (released.sent_once ? sent_ : unsent_).remove(slot);
    released.state = Slot::State::kFree;
    ++released.generation;
    free_.push_back(slot);
  }

  /// The slot of a sent attempt, or kNoSlot if that attempt is over.
  [[nodiscard]] std::uint32_t find_sent(OperationId id) const noexcept {
    const std::uint32_t slot = id.slot();
    const bool sent = slot < slots_.size() && slots_[slot].state == Slot::State::kSent &&
                      OperationId(slot, slots_[slot].generation) == id;
    return sent ? slot : kNoSlot;
  }

  /// Due and never sent, and sent and unanswered: each in the order of its deadlines.
  [[nodiscard]] const SlotList& unsent() const noexcept { return unsent_; }
  [[nodiscard]] const SlotList& sent() const noexcept { return sent_; }

  [[nodiscard]] Slot& operator[](std::uint32_t slot) noexcept { return slots_[slot]; }
  [[nodiscard]] const Slot& operator[](std::uint32_t slot) const noexcept { return slots_[slot]; }

 private:
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::vector<SlotLink> links_;
  SlotList unsent_;
  SlotList sent_;
};

}  // namespace raftperf::load
