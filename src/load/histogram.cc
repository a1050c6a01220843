// SPDX-License-Identifier: Apache-2.0
#include "load/histogram.h"

#include "base/check.h"

namespace raftperf::load {
namespace {

constexpr int kSignificantFigures = 3;

}  // namespace

Histogram::Histogram(Duration range_max) {
  hdr_histogram* histogram = nullptr;
  CHECK_EQ(hdr_init(1, range_max.count(), kSignificantFigures, &histogram), 0);
  hdr_.reset(histogram);
}

void Histogram::add(const Histogram& other) noexcept {
  // Same configuration on both sides, so counts are added index by index; hdr_add
  // would go through the values and is some hundred times slower.
  CHECK_EQ(hdr_->counts_len, other.hdr_->counts_len);
  if (other.hdr_->total_count > 0) {
    for (std::int32_t i = 0; i < hdr_->counts_len; ++i) {
      hdr_->counts[i] += other.hdr_->counts[i];
    }
    hdr_->total_count += other.hdr_->total_count;
    hdr_->max_value = std::max(hdr_->max_value, other.hdr_->max_value);
    hdr_->min_value = std::min(hdr_->min_value, other.hdr_->min_value);
    sum_ += other.sum_;
  }
  overflow_ += other.overflow_;
  overflow_max_ = std::max(overflow_max_, other.overflow_max_);
}

void Histogram::reset() noexcept {
  if (hdr_->total_count > 0) {
    hdr_reset(hdr_.get());
  }
  sum_ = 0;
  overflow_ = 0;
  overflow_max_ = 0;
}

std::optional<Duration> Histogram::at(const Quantile& quantile) const noexcept {
  return at_rank(nearest_rank(count(), quantile));
}

std::optional<Duration> Histogram::at_rank(std::uint64_t rank) const noexcept {
  if (rank == 0 || rank > count()) {
    return std::nullopt;
  }
  std::uint64_t seen = 0;
  for (std::int32_t i = 0; i < hdr_->counts_len; ++i) {
    seen += static_cast<std::uint64_t>(hdr_->counts[i]);
    if (seen >= rank) {
      const std::int64_t lowest = hdr_value_at_index(hdr_.get(), i);
      const std::int64_t highest = hdr_next_non_equivalent_value(hdr_.get(), lowest) - 1;
      return Duration{std::min(highest, hdr_->max_value)};
    }
  }
  return std::nullopt;
}

std::optional<Duration> Histogram::max() const noexcept {
  if (overflow_ > 0) {
    return Duration{overflow_max_};
  }
  return empty() ? std::nullopt : std::optional(Duration{hdr_->max_value});
}

std::optional<double> Histogram::mean_ns() const noexcept {
  return empty() ? std::nullopt
                 : std::optional(static_cast<double>(sum_) / static_cast<double>(count()));
}

}  // namespace raftperf::load
