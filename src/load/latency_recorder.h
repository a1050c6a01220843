// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "load/books.h"
#include "load/histogram.h"
#include "load/phase.h"
#include "load/time.h"

namespace raftperf::load {

/// The histograms of one stretch of the schedule. In a closed loop response, lag and
/// burst_lag stay empty: there the intended start is the actual send.
struct Histograms {
  explicit Histograms(Duration range_max)
      : response(range_max),
        service(range_max),
        lag(range_max),
        burst_lag(range_max),
        held(range_max) {}

  Histogram response;   ///< Arrival - intended start, of ok operations.
  Histogram service;    ///< Arrival - first accepted by the driver, of ok operations.
  Histogram lag;        ///< First attempt - intended start: the rig's own lateness.
  Histogram burst_lag;  ///< The lag of each burst's first operation.
  Histogram held;       ///< First accepted - first attempt: back pressure of driver or cluster.

  void add(const Histograms& other) noexcept;
  void reset() noexcept;
  [[nodiscard]] std::uint64_t overflow() const noexcept;
};

/// One second of the schedule, booked by intended start. Intervals are numbered from
/// the start of the window, so that none straddles the end of the warm-up.
struct Interval {
  explicit Interval(Duration range_max) : histograms(range_max) {}

  std::int64_t index = 0;  ///< Negative in the warm-up.
  Phase phase = Phase::kWarmup;
  Books books;
  Counts counts;
  Histograms histograms;
  std::uint64_t unsettled = 0;  ///< Operations booked here whose end is still open.

  void reset(std::int64_t new_index) noexcept;
};

inline constexpr Duration kIntervalLength = std::chrono::seconds{1};

/// The interval that an instant of the schedule falls into.
[[nodiscard]] constexpr std::int64_t interval_index(Duration offset, Window window) noexcept {
  const auto since = (offset - window.start).count();
  const auto length = kIntervalLength.count();
  return since >= 0 ? since / length : -((-since + length - 1) / length);
}

/// The stretch of the schedule that an interval covers.
[[nodiscard]] constexpr Window interval_bounds(std::int64_t index, Window window) noexcept {
  const Duration start = window.start + index * kIntervalLength;
  return {.start = start, .end = start + kIntervalLength};
}

/// Where a worker leaves its finished intervals and gets empty ones back: the only
/// place where the two threads meet, once a second, and the worker never waits.
class IntervalExchange {
 public:
  /// Worker's side. False if the other side holds the lock at this moment: try again
  /// in a later turn. `complete_below`: no interval below it will come any more.
  bool try_hand_over(std::vector<std::unique_ptr<Interval>>& finished,
                     std::vector<std::unique_ptr<Interval>>& empty, std::int64_t complete_below);

  struct Delivery {
    std::vector<std::unique_ptr<Interval>> finished;
    std::int64_t complete_below;
  };
  /// Collector's side.
  Delivery take();
  void give_back(std::unique_ptr<Interval> interval);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Interval>> finished_;                         // GUARDED_BY(mutex_)
  std::vector<std::unique_ptr<Interval>> empty_;                            // GUARDED_BY(mutex_)
  std::int64_t complete_below_ = std::numeric_limits<std::int64_t>::min();  // GUARDED_BY(mutex_)
};

/// One worker's histograms and counters, an interval at a time. Used by its worker's
/// thread alone, but for `exchange()` and the relaxed counters of `completions()`.
class LatencyRecorder {
 public:
  LatencyRecorder(Window window, Duration range_max);

  /// The interval of an operation due at `offset`. Offsets never go back.
  Interval& interval_at(Duration offset) {
    return offset < current_end_ ? *current_ : open_interval(offset);
  }

  /// An operation of the interval has ended.
  void settle(Interval& interval) noexcept {
    if (--interval.unsettled == 0 && &interval != current_) {
      settled_old_ = true;
    }
  }

  /// Books an ok completion on the axis of completion times.
  void completed_at(Duration offset) noexcept {
    completed_in_window_ += window_.contains(offset) ? 1U : 0U;
    if (!second_.contains(offset)) [[unlikely]] {
      change_second(offset);
    }
    second_count_->store(second_count_->load(std::memory_order_relaxed) + 1,
                         std::memory_order_relaxed);
  }

  /// Hands finished intervals over; cheap when there is none.
  void hand_over() {
    if (settled_old_) {
      hand_over_settled();
    }
  }

  /// The run is over: every interval is handed over. REQUIRES: nothing is unsettled.
  void finish();

  /// The time between two polls, and the part of it that was a wait for work.
  Histogram& turn_gap() noexcept { return turn_gap_; }

  /// The run was interrupted: the window ends earlier.
  void shorten_window(Duration end) noexcept { window_.end = end; }

  /// The largest value that the histograms hold.
  [[nodiscard]] Duration range_max() const noexcept { return range_max_; }

  IntervalExchange& exchange() noexcept { return exchange_; }

  /// Ok completions per second by completion time, from interval `completions_first()`;
  /// written by the worker, readable by anyone.
  [[nodiscard]] const std::vector<std::atomic<std::uint64_t>>& completions() const noexcept {
    return completions_;
  }
  [[nodiscard]] std::int64_t completions_first() const noexcept { return completions_first_; }
  /// Ok completions inside the window, whenever they were due.
  [[nodiscard]] std::uint64_t completed_in_window() const noexcept { return completed_in_window_; }

 private:
  Interval& open_interval(Duration offset);
  void change_second(Duration offset) noexcept;
  void hand_over_settled();
  std::unique_ptr<Interval> empty_interval();

  Window window_;
  Duration range_max_;
  std::vector<std::unique_ptr<Interval>> open_;  ///< By index; the last is the current one.
  Interval* current_ = nullptr;
  Duration current_end_ = Duration::min();  ///< Where the current one ends in the schedule.
  bool settled_old_ = false;
  std::vector<std::unique_ptr<Interval>> finished_;
  std::vector<std::unique_ptr<Interval>> empty_;
  Histogram turn_gap_;
  IntervalExchange exchange_;
  std::vector<std::atomic<std::uint64_t>> completions_;
  std::int64_t completions_first_ = 0;
  Window second_;  ///< The one that `second_count_`, an element of `completions_`, is of.
  std::atomic<std::uint64_t>* second_count_ = nullptr;
  std::uint64_t completed_in_window_ = 0;
};

}  // namespace raftperf::load
