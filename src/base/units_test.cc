// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <gtest/gtest.h>

#include <limits>

namespace raftperf {
namespace {

using std::chrono::nanoseconds;

struct Good {
  std::string_view text;
  std::uint64_t value;
};

TEST(Duration, ReadsEveryUnitAndABareNumberAsSeconds) {
  for (const Good& good : {Good{"30", 30'000'000'000},
                           {"30s", 30'000'000'000},
                           {"500ms", 500'000'000},
                           {"50us", 50'000},
                           {"10ns", 10},
                           {"1m30s", 90'000'000'000},
                           {"1.5s", 1'500'000'000},
                           {"0.5", 500'000'000},
                           {"2m", 120'000'000'000},
                           {"1h", 3'600'000'000'000},
                           {"1h0m1.25s", 3'601'250'000'000},
                           {"0", 0},
                           {"0ms", 0},
                           {"10", 10'000'000'000},
                           {"1s1ms1us1ns", 1'001'001'001},
                           {"9223372036854775807ns", 9'223'372'036'854'775'807}}) {
    const auto duration = parse_duration(good.text);
    ASSERT_TRUE(duration.ok()) << good.text << ": " << duration.error();
    EXPECT_EQ(duration->count(), static_cast<std::int64_t>(good.value)) << good.text;
  }
}

TEST(Duration, IsExactWhereFloatingPointIsNot) {
  EXPECT_EQ(parse_duration("0.000000001").value(), nanoseconds{1});
  EXPECT_EQ(parse_duration("9007199.254740993").value(), nanoseconds{9'007'199'254'740'993});
  EXPECT_EQ(parse_duration("0.3").value(), nanoseconds{300'000'000});
  EXPECT_EQ(parse_duration("1.000000000000").value(), nanoseconds{1'000'000'000});
}

// cases C63 and C67
TEST(Duration, RefusesWhatIsNotWhollyADuration) {
  for (const std::string_view text : {"",
                                      "-1",
                                      "-1s",
                                      "+1",
                                      "nan",
                                      "inf",
                                      "s",
                                      "ms",
                                      "1k5",
                                      "10 00",
                                      "10 s",
                                      " 10",
                                      "10 ",
                                      "10\n",
                                      "1s ",
                                      "1sx",
                                      "10sec",
                                      "1.5.2",
                                      "1_000",
                                      "1,000",
                                      "1,5s",
                                      ".5",
                                      "5.",
                                      "5.s",
                                      "1e3",
                                      "1e999",
                                      "0x10",
                                      "30s1m",
                                      "1s1s",
                                      "1m30",
                                      "1.5m3s",
                                      "10S",
                                      "10MS",
                                      "10msec",
                                      "1d",
                                      "0.1ns",
                                      "1.0000000001s",
                                      "9223372036854775808ns",
                                      "292y",
                                      "99999999999999999999999s"}) {
    const auto duration = parse_duration(text);
    ASSERT_FALSE(duration.ok()) << text;
    EXPECT_NE(duration.error().find("examples"), std::string::npos);
  }
}

TEST(Duration, PrintsWhatItReadsBack) {
  for (const std::string_view text : {"30s", "1500ms", "50us", "10ns", "0s", "5400s"}) {
    EXPECT_EQ(format_duration(parse_duration(text).value()), text);
  }
  EXPECT_EQ(format_duration(nanoseconds{-1'000}), "-1us");
  EXPECT_EQ(format_duration(nanoseconds::min()), "-9223372036854775808ns");
}

TEST(Rate, IsHeldInMicroHertz) {
  for (const Good& good : {Good{"1000", 1'000'000'000},
                           {"0.5", 500'000},
                           {"20k", 20'000'000'000},
                           {"20K", 20'000'000'000},
                           {"1M", 1'000'000'000'000},
                           {"1.5M", 1'500'000'000'000},
                           {"1e3", 1'000'000'000},
                           {"1E3", 1'000'000'000},
                           {"5e-1", 500'000},
                           {"100/s", 100'000'000},
                           {"1k/s", 1'000'000'000},
                           {"0.000001", 1},
                           {"1e9", kRateMicroHertzMax},
                           {"1000M", kRateMicroHertzMax},
                           {"7", 7'000'000},
                           {"0.10", 100'000},
                           {"1000000.000001", 1'000'000'000'001}}) {
    const auto rate = parse_rate(good.text);
    ASSERT_TRUE(rate.ok()) << good.text << ": " << rate.error();
    EXPECT_EQ(*rate, good.value) << good.text;
  }
}

// cases C63 and C67
TEST(Rate, RefusesWhatIsNotWhollyARate) {
  for (const std::string_view text : {"",
                                      "0",
                                      "0.0",
                                      "-1",
                                      "-0.5",
                                      "+1",
                                      "nan",
                                      "inf",
                                      "-inf",
                                      "1e999",
                                      "1e",
                                      "e3",
                                      "1Ki",
                                      "1_000",
                                      "1,000",
                                      "10 00",
                                      "1.5.2",
                                      "1k5",
                                      "1kk",
                                      "1e3k",
                                      "k",
                                      "1m",
                                      "1G",
                                      "0.0000001",
                                      "1e-7",
                                      "1.1e-6",
                                      "1e9.5",
                                      "1e10",
                                      "1000.1M",
                                      " 1",
                                      "1 ",
                                      "1/m",
                                      "1/s/s",
                                      "/s",
                                      "1 /s",
                                      "max",
                                      "unlimited",
                                      "0x10",
                                      "1000000001",
                                      "1e-999",
                                      ".5",
                                      "5.",
                                      "1000000000.000001",
                                      "99999999999999999999999999"}) {
    const auto rate = parse_rate(text);
    ASSERT_FALSE(rate.ok()) << text;
    EXPECT_NE(rate.error().find("examples"), std::string::npos);
  }
}

TEST(Rate, PrintsWhatItReadsBack) {
  for (const std::string_view text : {"0.5", "1000", "0.000001", "1000000000", "7.25"}) {
    EXPECT_EQ(format_rate(parse_rate(text).value()), text);
  }
}

TEST(Count, ReadsWholeNumbers) {
  EXPECT_EQ(parse_count("0").value(), 0U);
  EXPECT_EQ(parse_count("1000").value(), 1'000U);
  EXPECT_EQ(parse_count("20k").value(), 20'000U);
  EXPECT_EQ(parse_count("1.5k").value(), 1'500U);
  EXPECT_EQ(parse_count("1e3").value(), 1'000U);
  EXPECT_EQ(parse_count("1M").value(), 1'000'000U);
  EXPECT_EQ(parse_count("18446744073709551615").value(), std::numeric_limits<std::uint64_t>::max());
  for (const std::string_view text :
       {"", "-1", "1.5", "0.5k5", "1Ki", "1_000", "1,000", "10 00", "1.5.2", "1k5", "nan", "inf",
        "1e999", "18446744073709551616", "1e20", "1/s", "100x", "0.0001k"}) {
    EXPECT_FALSE(parse_count(text).ok()) << text;
  }
}

TEST(Size, TellsThousandsFromPowersOfTwo) {
  EXPECT_EQ(parse_size("64").value(), 64U);
  EXPECT_EQ(parse_size("64B").value(), 64U);
  EXPECT_EQ(parse_size("1k").value(), 1'000U);
  EXPECT_EQ(parse_size("1K").value(), 1'000U);
  EXPECT_EQ(parse_size("1Ki").value(), 1'024U);
  EXPECT_EQ(parse_size("1KiB").value(), 1'024U);
  EXPECT_EQ(parse_size("1.5Ki").value(), 1'536U);
  EXPECT_EQ(parse_size("1M").value(), 1'000'000U);
  EXPECT_EQ(parse_size("1Mi").value(), 1'048'576U);
  EXPECT_EQ(parse_size("2G").value(), 2'000'000'000U);
  EXPECT_EQ(parse_size("1Gi").value(), 1'073'741'824U);
  for (const std::string_view text : {"", "B", "k", "1ki", "1mi", "1kBB", "1 k", "-1", "0.1", "1k5",
                                      "1T", "1b", "1_000", "1,000", "99999999999G"}) {
    EXPECT_FALSE(parse_size(text).ok()) << text;
  }
}

TEST(Units, ErrorsAreOneShortLine) {
  const std::string hostile = std::string(100'000, 'x') + "\n\x1b[2J";
  for (const std::string& error :
       {parse_duration("\x1b[2J\n").error(), parse_rate(hostile).error()}) {
    EXPECT_LT(error.size(), 300U);
    EXPECT_EQ(error.find_first_of("\n\x1b"), std::string::npos);
  }
}

}  // namespace
}  // namespace raftperf
