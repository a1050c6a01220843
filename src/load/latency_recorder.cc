// SPDX-License-Identifier: Apache-2.0
#include "load/latency_recorder.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace raftperf::load {
namespace {

// A window of a second has an interval in work, one waiting for its last answers and
// one with the collector; slow answers keep a few more open. Beyond that an interval
// is allocated, once a second at most.
constexpr std::size_t kPreallocated = 4;

}  // namespace

void Histograms::add(const Histograms& other) noexcept {
  response.add(other.response);
  service.add(other.service);
  lag.add(other.lag);
  burst_lag.add(other.burst_lag);
  held.add(other.held);
}

void Histograms::reset() noexcept {
  response.reset();
  service.reset();
  lag.reset();
  burst_lag.reset();
  held.reset();
}

std::uint64_t Histograms::overflow() const noexcept {
  return response.overflow() + service.overflow() + lag.overflow() + held.overflow();
}

void Interval::reset(std::int64_t new_index) noexcept {
  index = new_index;
  phase = new_index < 0 ? Phase::kWarmup : Phase::kMeasurement;
  books = {};
  counts = {};
  histograms.reset();
  unsettled = 0;
}

bool IntervalExchange::try_hand_over(std::vector<std::unique_ptr<Interval>>& finished,
                                     std::vector<std::unique_ptr<Interval>>& empty,
                                     std::int64_t complete_below) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) {
    return false;
  }
  std::move(finished.begin(), finished.end(), std::back_inserter(finished_));
  finished.clear();
  std::move(empty_.begin(), empty_.end(), std::back_inserter(empty));
  empty_.clear();
  complete_below_ = complete_below;
  return true;
}

IntervalExchange::Delivery IntervalExchange::take() {
  const std::lock_guard lock(mutex_);
  return {.finished = std::exchange(finished_, {}), .complete_below = complete_below_};
}

void IntervalExchange::give_back(std::unique_ptr<Interval> interval) {
  interval->reset(0);  // clearing megabytes is the collector's work, not the worker's
  const std::lock_guard lock(mutex_);
  empty_.push_back(std::move(interval));
}

LatencyRecorder::LatencyRecorder(Window window, Duration range_max)
    : window_(window),
      range_max_(range_max),
      turn_gap_(range_max),
      completions_first_(interval_index(Duration{0}, window)) {
  const std::int64_t last = interval_index(window.end + range_max, window);
  completions_ = std::vector<std::atomic<std::uint64_t>>(
      static_cast<std::size_t>(last - completions_first_ + 1));
  for (std::size_t i = 0; i < kPreallocated; ++i) {
    empty_.push_back(std::make_unique<Interval>(range_max));
  }
}

Interval& LatencyRecorder::open_interval(Duration offset) {
  const std::int64_t index = interval_index(offset, window_);
  CHECK(current_ == nullptr || index > current_->index);
  open_.push_back(empty_interval());
  current_ = open_.back().get();
  current_->reset(index);
  current_end_ = interval_bounds(index, window_).end;
  settled_old_ = open_.size() > 1;
  return *current_;
}

void LatencyRecorder::change_second(Duration offset) noexcept {
  const std::int64_t index = interval_index(offset, window_);
  second_ = interval_bounds(index, window_);
  const auto last = static_cast<std::int64_t>(completions_.size()) - 1;
  const auto at = std::clamp<std::int64_t>(index - completions_first_, 0, last);
  second_count_ = &completions_[static_cast<std::size_t>(at)];
}

void LatencyRecorder::hand_over_settled() {
  const auto settled = [this](const std::unique_ptr<Interval>& interval) {
    return interval->unsettled == 0 && interval.get() != current_;
  };
  for (auto& interval : open_) {
    if (settled(interval)) {
      finished_.push_back(std::move(interval));
    }
  }
  std::erase(open_, nullptr);
  const std::int64_t complete_below =
      open_.empty() ? std::numeric_limits<std::int64_t>::max() : open_.front()->index;
  settled_old_ = !exchange_.try_hand_over(finished_, empty_, complete_below);
}

void LatencyRecorder::finish() {
  for (const auto& interval : open_) {
    CHECK_EQ(interval->unsettled, std::uint64_t{0});
  }
  current_ = nullptr;
  current_end_ = Duration::min();
  do {
    hand_over_settled();
  } while (settled_old_);
}

std::unique_ptr<Interval> LatencyRecorder::empty_interval() {
  if (empty_.empty()) {
    return std::make_unique<Interval>(range_max_);
  }
  auto interval = std::move(empty_.back());
  empty_.pop_back();
  return interval;
}

}  // namespace raftperf::load
