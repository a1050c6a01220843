// SPDX-License-Identifier: Apache-2.0
#include "report/numbers.h"

#include <gtest/gtest.h>

namespace raftperf::report {
namespace {

TEST(Numbers, CountsHaveSeparators) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1'000), "1,000");
  EXPECT_EQ(count_text(1'234'567), "1,234,567");
  EXPECT_EQ(count_text(18'446'744'073'709'551'615U), "18,446,744,073,709,551,615");
}

TEST(Numbers, MicrosecondsKeepADecimalWhereItMatters) {
  EXPECT_EQ(micros_text(std::nullopt), "-");
  EXPECT_EQ(micros_text(0), "0.0");
  EXPECT_EQ(micros_text(50), "0.1");
  EXPECT_EQ(micros_text(1'234), "1.2");
  EXPECT_EQ(micros_text(999'949), "999.9");
  EXPECT_EQ(micros_text(999'950), "1,000");
  EXPECT_EQ(micros_text(1'000'000), "1,000");  // C73: 1 ms is 1,000 us
  EXPECT_EQ(micros_text(60'000'000'000), "60,000,000");
}

TEST(Numbers, Rates) {
  EXPECT_EQ(rate_text(0), "0.0/s");
  EXPECT_EQ(rate_text(0.5), "0.5/s");
  EXPECT_EQ(rate_text(19'998.7), "19,998.7/s");
  EXPECT_EQ(rate_text(99'999.94), "99,999.9/s");
  EXPECT_EQ(rate_text(99'999.96), "100,000/s");
  EXPECT_EQ(rate_text(1'234'567.8), "1,234,568/s");
}

TEST(Numbers, PerCent) {
  EXPECT_EQ(percent_text(0.0015), "0.15 %");
  EXPECT_EQ(percent_text(0.0999), "9.99 %");
  EXPECT_EQ(percent_text(0.09999), "10.0 %");
  EXPECT_EQ(percent_text(1), "100.0 %");
}

TEST(Numbers, PlainNumbers) {
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(0.12344), "0.1234");
  EXPECT_EQ(number_text(30), "30");
  EXPECT_EQ(number_text(999.94), "999.9");
  EXPECT_EQ(number_text(999.96), "1,000");
  EXPECT_EQ(number_text(-1'234.5), "-1,234");
  EXPECT_EQ(number_text(3'600), "3,600");
}

}  // namespace
}  // namespace raftperf::report
