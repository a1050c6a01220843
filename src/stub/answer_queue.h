// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "stub/node.h"

namespace raftperf::stub {

/// Names a connection for as long as it lives: its slot is used again, with another
/// generation.
struct ConnectionId {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;

  friend bool operator==(const ConnectionId&, const ConnectionId&) = default;
};

/// An answer that is due later.
struct DueAnswer {
  TimePoint due;
  ConnectionId connection;
  Answer answer;
};

/// A first-in first-out ring that doubles when it is full; due times never decrease.
class AnswerQueue {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == last_; }
  [[nodiscard]] std::size_t size() const noexcept { return last_ - first_; }

  /// REQUIRES: !empty().
  [[nodiscard]] const DueAnswer& front() const noexcept { return ring_[first_ & mask()]; }
  void pop() noexcept { ++first_; }

  void push(const DueAnswer& answer) {
    CHECK(empty() || ring_[(last_ - 1) & mask()].due <= answer.due);
    if (size() == ring_.size()) {
      grow();
    }
    ring_[last_++ & mask()] = answer;
  }

 private:
  static constexpr std::size_t kInitialSize = 1U << 14U;

  [[nodiscard]] std::size_t mask() const noexcept { return ring_.size() - 1; }

  void grow() {
    std::vector<DueAnswer> larger(2 * ring_.size());
    for (std::size_t i = first_; i != last_; ++i) {
      larger[i & (larger.size() - 1)] = ring_[i & mask()];
    }
    ring_.swap(larger);
  }

  std::vector<DueAnswer> ring_ = std::vector<DueAnswer>(kInitialSize);
  std::size_t first_ = 0;  ///< Counts up for ever; its place is the remainder.
  std::size_t last_ = 0;
};

}  // namespace raftperf::stub
