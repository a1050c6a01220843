// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdr/hdr_histogram.h>

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "load/time.h"

namespace raftperf::load {

/// A percentile as an exact fraction, so that its rank needs no floating point.
struct Quantile {
  std::string_view name;   ///< As a person writes it: "p99.9".
  std::string_view field;  ///< As the record writes it: "p99_9".
  std::uint64_t numerator;
  std::uint64_t denominator;
};

inline constexpr std::array<Quantile, 5> kQuantiles{{{"p50", "p50", 50, 100},
                                                     {"p90", "p90", 90, 100},
                                                     {"p99", "p99", 99, 100},
                                                     {"p99.9", "p99_9", 999, 1000},
                                                     {"p99.99", "p99_99", 9999, 10000}}};
inline constexpr const Quantile& kP50 = kQuantiles[0];
inline constexpr const Quantile& kP99 = kQuantiles[2];

/// Nearest rank: ceil(count * quantile), at least 1 (Hyndman and Fan 1996, type 1).
[[nodiscard]] constexpr std::uint64_t nearest_rank(std::uint64_t count,
                                                   const Quantile& quantile) noexcept {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(count) * quantile.numerator;
  const auto rank =
      static_cast<std::uint64_t>((product + quantile.denominator - 1) / quantile.denominator);
  return rank == 0 ? 1 : rank;
}

/// Fewer than ten samples lie beyond the percentile: it says little.
[[nodiscard]] constexpr bool is_thin(std::uint64_t count, const Quantile& quantile) noexcept {
  const std::uint64_t beyond = quantile.denominator - quantile.numerator;
  return quantile.numerator * 2 > quantile.denominator &&
         count < (10 * quantile.denominator + beyond - 1) / beyond;
}

/// Durations in ns, in an HdrHistogram of 3 significant digits. A value above the
/// range is counted as overflow and in no percentile. One writer; not thread-safe.
class Histogram {
 public:
  explicit Histogram(Duration range_max);

  /// A negative duration is a bug of the caller and is booked as 0.
  void record(Duration value) noexcept {
    const std::int64_t ns = value.count() < 0 ? 0 : value.count();
    if (ns > hdr_->highest_trackable_value) [[unlikely]] {
      ++overflow_;
      overflow_max_ = std::max(overflow_max_, ns);
      return;
    }
    // The index that hdr_record_value computes (counts_index_for in hdr_histogram.c), written
    // out: the call takes two to three times as long, four times an operation. histogram_test
    // compares the two over the whole range.
    const auto magnitude_mask = static_cast<std::uint64_t>(ns | hdr_->sub_bucket_mask);
    const int bucket =
        63 - std::countl_zero(magnitude_mask) - hdr_->sub_bucket_half_count_magnitude;
    const auto index =
        (static_cast<std::int64_t>(bucket) << hdr_->sub_bucket_half_count_magnitude) +
        (ns >> bucket);
    ++hdr_->counts[index];
    ++hdr_->total_count;
    sum_ += ns;
    hdr_->max_value = std::max(hdr_->max_value, ns);
    if (ns != 0) {
      hdr_->min_value = std::min(hdr_->min_value, ns);
    }
  }

  void add(const Histogram& other) noexcept;
  void reset() noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept {
    return static_cast<std::uint64_t>(hdr_->total_count);
  }
  [[nodiscard]] std::uint64_t overflow() const noexcept { return overflow_; }
  [[nodiscard]] bool empty() const noexcept { return count() == 0; }

  // Empty for an empty histogram: it has no percentile.
  [[nodiscard]] std::optional<Duration> at(const Quantile& quantile) const noexcept;
  [[nodiscard]] std::optional<Duration> at_rank(std::uint64_t rank) const noexcept;
  [[nodiscard]] std::optional<Duration> max() const noexcept;    ///< Exact.
  [[nodiscard]] std::optional<double> mean_ns() const noexcept;  ///< Exact.

  /// For writers of histogram logs.
  [[nodiscard]] hdr_histogram* hdr() const noexcept { return hdr_.get(); }
  [[nodiscard]] Duration range_max() const noexcept {
    return Duration{hdr_->highest_trackable_value};
  }

 private:
  struct Close {
    void operator()(hdr_histogram* histogram) const noexcept { hdr_close(histogram); }
  };
  std::unique_ptr<hdr_histogram, Close> hdr_;
  std::int64_t sum_ = 0;
  std::uint64_t overflow_ = 0;
  std::int64_t overflow_max_ = 0;
};

}  // namespace raftperf::load
