// SPDX-License-Identifier: Apache-2.0
#include "load/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace raftperf::load {
namespace {

using namespace std::chrono_literals;

constexpr const Quantile& kP90 = kQuantiles[1];
constexpr const Quantile& kP999 = kQuantiles[3];
constexpr const Quantile& kP9999 = kQuantiles[4];

struct Library {
  explicit Library(Duration range) { hdr_init(1, range.count(), 3, &histogram); }
  ~Library() { hdr_close(histogram); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  hdr_histogram* histogram = nullptr;
};

/// Values at, below and above every power of two and every bucket's edge, and random ones.
std::vector<std::int64_t> values_up_to(std::int64_t max) {
  std::vector<std::int64_t> values;
  for (std::int64_t power = 1; power <= max && power > 0; power *= 2) {
    for (const std::int64_t step : {std::int64_t{1}, power / 1024, power / 2048}) {
      for (const std::int64_t value : {power - step, power, power + step, 2 * power - step}) {
        values.push_back(value);
      }
    }
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const auto bits = random() % 62;
    values.push_back(static_cast<std::int64_t>(random() >> (63 - bits)));
  }
  std::erase_if(values, [max](std::int64_t value) { return value < 0 || value > max; });
  return values;
}

TEST(Histogram, RecordsAsTheLibraryDoes) {
  for (const Duration range : {Duration{60s}, Duration{3600s}, Duration{48h}}) {
    Histogram ours(range);
    Library library(range);
    for (const std::int64_t value : values_up_to(ours.range_max().count())) {
      ours.record(Duration{value});
      ASSERT_TRUE(hdr_record_value(library.histogram, value));
    }
    ASSERT_EQ(ours.hdr()->counts_len, library.histogram->counts_len);
    for (std::int32_t i = 0; i < ours.hdr()->counts_len; ++i) {
      ASSERT_EQ(ours.hdr()->counts[i], library.histogram->counts[i]) << "index " << i;
    }
    EXPECT_EQ(ours.hdr()->total_count, library.histogram->total_count);
    EXPECT_EQ(ours.hdr()->max_value, library.histogram->max_value);
    EXPECT_EQ(ours.hdr()->min_value, library.histogram->min_value);
  }
}

TEST(Histogram, AccountsForEveryValue) {  // C19
  Histogram histogram(60s);
  const Duration max = histogram.range_max();
  for (const Duration value : {Duration{0}, Duration{1}, max, max + 1ns, 100 * max}) {
    histogram.record(value);
  }
  EXPECT_EQ(histogram.count(), 3U);
  EXPECT_EQ(histogram.overflow(), 2U);
  EXPECT_EQ(histogram.max(), 100 * max);
  histogram.record(-1ns);
  EXPECT_EQ(histogram.count(), 4U);
  EXPECT_EQ(histogram.at(kP50), 0ns);
}

TEST(Histogram, IsExactToThreeDigits) {
  for (const std::int64_t value : values_up_to(60'000'000'000)) {
    Histogram histogram(60s);
    histogram.record(Duration{value});
    histogram.record(60s);  // so that the maximum does not cap the percentile
    const auto read = static_cast<double>(histogram.at(kP50)->count());
    ASSERT_GE(read, static_cast<double>(value));
    ASSERT_LE(read, static_cast<double>(value) * 1.001);
  }
}

TEST(Histogram, IsEmptyWithoutValues) {  // C21
  const Histogram histogram(60s);
  for (const Quantile& quantile : kQuantiles) {
    EXPECT_EQ(histogram.at(quantile), std::nullopt);
  }
  EXPECT_EQ(histogram.max(), std::nullopt);
  EXPECT_EQ(histogram.mean_ns(), std::nullopt);
  EXPECT_EQ(histogram.at_rank(0), std::nullopt);
  EXPECT_EQ(histogram.at_rank(1), std::nullopt);
}

TEST(Histogram, ReadsTheNearestRank) {  // C29
  Histogram histogram(60s);
  for (std::int64_t value = 1; value <= 1000; ++value) {
    histogram.record(Duration{value});
  }
  EXPECT_EQ(histogram.at(kP50), 500ns);
  EXPECT_EQ(histogram.at(kP90), 900ns);
  EXPECT_EQ(histogram.at(kP99), 990ns);
  EXPECT_EQ(histogram.at(kP999), 999ns);
  EXPECT_EQ(histogram.at(kP9999), 1000ns);
  EXPECT_EQ(histogram.max(), 1000ns);
  EXPECT_EQ(histogram.mean_ns(), 500.5);
}

TEST(Histogram, RanksInIntegers) {
  EXPECT_EQ(nearest_rank(0, kP50), 1U);
  EXPECT_EQ(nearest_rank(1, kP9999), 1U);
  EXPECT_EQ(nearest_rank(2, kP50), 1U);
  EXPECT_EQ(nearest_rank(3, kP50), 2U);
  EXPECT_EQ(nearest_rank(1000, kP999), 999U);  // in floating point 0.999 * 1000 > 999
  EXPECT_EQ(nearest_rank(10'000'000'000'000'000'000U, kP9999), 9'999'000'000'000'000'000U);
}

TEST(Histogram, MergesBeforeItReads) {  // C23
  Histogram merged(60s);
  Histogram other(60s);
  for (int i = 0; i < 1000; ++i) {
    merged.record(10ms);
  }
  for (int i = 0; i < 10; ++i) {
    other.record(2000ms);
  }
  merged.add(other);
  EXPECT_EQ(merged.count(), 1010U);
  const Quantile p95{"p95", "p95", 95, 100};
  const Quantile p995{"p99.5", "p99_5", 995, 1000};
  EXPECT_NEAR(static_cast<double>(merged.at(p95)->count()), 10e6, 10e3);
  EXPECT_EQ(merged.at(p995), 2000ms);  // capped by the exact maximum
  EXPECT_DOUBLE_EQ(*merged.mean_ns(), (1000 * 10e6 + 10 * 2000e6) / 1010);
}

TEST(Histogram, MergesOverflow) {
  Histogram merged(60s);
  Histogram other(60s);
  other.record(3h);
  merged.add(other);
  EXPECT_EQ(merged.count(), 0U);
  EXPECT_EQ(merged.overflow(), 1U);
  EXPECT_EQ(merged.max(), 3h);
  merged.reset();
  EXPECT_EQ(merged.overflow(), 0U);
  EXPECT_EQ(merged.max(), std::nullopt);
}

TEST(Histogram, MeanAndPercentilesDoNotContradict) {  // C31
  Histogram histogram(60s);
  for (int i = 0; i < 9900; ++i) {
    histogram.record(1ms);
  }
  for (int i = 0; i < 99; ++i) {
    histogram.record(2ms);
  }
  histogram.record(3000ms);
  EXPECT_LE(*histogram.at(kP99), 1001us);
  EXPECT_EQ(histogram.max(), 3000ms);
  EXPECT_NEAR(*histogram.mean_ns(), 1.3098e6, 1e3);
  for (const Quantile& quantile : kQuantiles) {
    const double beyond =
        1 - static_cast<double>(quantile.numerator) / static_cast<double>(quantile.denominator);
    EXPECT_GE(*histogram.mean_ns() * 1.001,
              beyond * static_cast<double>(histogram.at(quantile)->count()));
  }
}

TEST(Histogram, SaysWhichPercentilesAreThin) {  // C25
  EXPECT_FALSE(is_thin(1, kP50));
  EXPECT_TRUE(is_thin(99, kP90));
  EXPECT_FALSE(is_thin(100, kP90));
  EXPECT_TRUE(is_thin(999, kP99));
  EXPECT_FALSE(is_thin(1000, kP99));
  EXPECT_TRUE(is_thin(9'999, kP999));
  EXPECT_FALSE(is_thin(10'000, kP999));
  EXPECT_TRUE(is_thin(99'999, kP9999));
  EXPECT_FALSE(is_thin(100'000, kP9999));
}

}  // namespace
}  // namespace raftperf::load
