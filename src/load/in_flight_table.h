// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
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
  TimePoint first_attempt;  ///< When the rig first handled it.
  TimePoint accepted;       ///< When the driver took the present attempt.
  TimePoint deadline;       ///< Counts from the first actual send, before that from `first_attempt`.
  std::uint64_t k = 0;
  std::uint64_t generation = 0;  ///< Raised with every attempt: an old answer finds no slot.
  std::uint64_t last_known = 0;  ///< The last known value of the slot's key; outlives operations.
  Interval* interval = nullptr;  ///< Where it is booked.
  std::uint32_t node = 0;        ///< Where the present attempt went.
  std::uint32_t attempts = 0;
  State state = State::kFree;
  bool sent_once = false;
};

/// Doubly linked list of slots, threaded through two arrays; O(1) everywhere.
class SlotList {
 public:
  explicit SlotList(std::uint32_t slots) : next_(slots, kNoSlot), previous_(slots, kNoSlot) {}

  [[nodiscard]] bool empty() const noexcept { return head_ == kNoSlot; }
  [[nodiscard]] std::uint32_t front() const noexcept { return head_; }
  [[nodiscard]] std::uint32_t next(std::uint32_t slot) const noexcept { return next_[slot]; }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  void push_back(std::uint32_t slot) noexcept;
  void push_front(std::uint32_t slot) noexcept;
  void remove(std::uint32_t slot) noexcept;

 private:
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> previous_;
  std::uint32_t head_ = kNoSlot;
  std::uint32_t tail_ = kNoSlot;
  std::uint32_t size_ = 0;
};

/// A fixed number of preallocated slots: the unanswered operations of one worker.
/// Its size is the in-flight cap. Two lists order the slots by deadline, since a
/// deadline is a constant time after the first attempt or after the first send.
class InFlightTable {
 public:
  /// REQUIRES: 1 <= slots <= OperationId::kSlotsMax.
  explicit InFlightTable(std::uint32_t slots);

  [[nodiscard]] bool full() const noexcept { return free_.empty(); }
  [[nodiscard]] std::uint32_t size() const noexcept { return capacity() - free_count(); }
  [[nodiscard]] std::uint32_t capacity() const noexcept {
    return static_cast<std::uint32_t>(slots_.size());
  }

  /// Takes the free slot that was freed last and puts it among the unsent. In a closed
  /// loop a free slot is a chain whose last answer has come, so any of them will do.
  /// REQUIRES: !full().
  std::uint32_t take() noexcept;
  /// The first actual send: from now on the deadline is `deadline`.
  void mark_sent(std::uint32_t slot, TimePoint deadline) noexcept;
  void release(std::uint32_t slot) noexcept;

  /// The slot of a sent attempt, or none if that attempt is over.
  [[nodiscard]] std::optional<std::uint32_t> find_sent(OperationId id) const noexcept;

  /// The slot whose deadline is next among the unsent, and among the sent; kNoSlot if none.
  [[nodiscard]] std::uint32_t oldest_unsent() const noexcept { return unsent_.front(); }
  [[nodiscard]] std::uint32_t oldest_sent() const noexcept { return sent_.front(); }

  [[nodiscard]] Slot& operator[](std::uint32_t slot) noexcept { return slots_[slot]; }
  [[nodiscard]] const Slot& operator[](std::uint32_t slot) const noexcept { return slots_[slot]; }

 private:
  [[nodiscard]] std::uint32_t free_count() const noexcept {
    return static_cast<std::uint32_t>(free_.size());
  }
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  SlotList unsent_;
  SlotList sent_;
};

}  // namespace raftperf::load
