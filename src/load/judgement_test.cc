// SPDX-License-Identifier: Apache-2.0
//
// Books, summary and the criteria that no scenario can bring about; the others, each with
// both sides of its limit, are tests/scenarios/judgement_*.scenario.
#include "load/judgement.h"

#include <gtest/gtest.h>

#include <cmath>

namespace raftperf::load {
namespace {

using namespace std::chrono_literals;

TEST(Books, SayWhatDoesNotClose) {
  Books books{.scheduled = 10,
              .sent = 8,
              .dropped = {1, 0, 1, 0},
              .ok = 5,
              .rejected = 2,
              .unknown = {0, 1, 0}};
  EXPECT_EQ(books.imbalance(5), "");
  EXPECT_EQ(books.imbalance(4), "the histogram holds 4 values for 5 ok operations");
  books.ok = 6;
  EXPECT_EQ(books.imbalance(6), "sent 8 is not ok 6 + rejected 2 + unknown 1");
  books.scheduled = 11;
  EXPECT_EQ(books.imbalance(6), "scheduled 11 is not sent 8 + dropped 2");
}

TEST(Books, AddEveryCounter) {
  Books sum;
  const Books books{.scheduled = 1,
                    .sent = 2,
                    .dropped = {3, 4, 5, 6},
                    .ok = 7,
                    .rejected = 8,
                    .unknown = {9, 10, 11}};
  sum.add(books);
  EXPECT_EQ(sum, books);
  Counts counts;
  const Counts some{.attempts = 1,
                    .redirects = 2,
                    .mismatches = 3,
                    .at_cap = 4,
                    .rejected_by = {5, 6, 7, 8, 9, 10, 11, 12}};
  counts.add(some);
  EXPECT_EQ(counts, some);
}

/// A run in which nothing is wrong: 10,000 operations of 1 ms in 10 s.
Summary good(LoadMode mode = LoadMode::kOpen) {
  Summary summary(60s);
  summary.mode = mode;
  summary.window = {.start = 1s, .end = 11s};
  summary.slots = 1;
  summary.books = {.scheduled = 10'000, .sent = 10'000, .ok = 10'000};
  summary.completed_in_window = 10'000;
  for (int i = 0; i < 10'000; ++i) {
    summary.histograms.service.record(1ms);
    if (mode == LoadMode::kOpen) {
      summary.histograms.response.record(1ms);
      summary.histograms.lag.record(0ns);
    }
  }
  for (int i = 0; i < 1000; ++i) {
    summary.in_flight.add(1);
  }
  return summary;
}

std::string codes(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += (text.empty() ? "" : " ") + std::string(finding.code);
    EXPECT_FALSE(finding.remedy.empty());
  }
  return text;
}

TEST(Judgement, FindsNothingWrongWithAGoodRun) {
  for (const LoadMode mode : {LoadMode::kOpen, LoadMode::kClosed}) {
    EXPECT_EQ(codes(judge_rig(good(mode), {}).reasons), "");
    EXPECT_EQ(judge_rig(good(mode), {}).status, RigStatus::kValid);
    EXPECT_EQ(judge_load(good(mode), {}).status, LoadStatus::kCarried);
  }
}

TEST(Judgement, BooksThatDoNotCloseAreABug) {
  Summary summary = good();
  summary.imbalance = "scheduled 1 is not sent 2 + dropped 3";
  const RigJudgement judged = judge_rig(summary, {});
  EXPECT_EQ(judged.status, RigStatus::kInvalid);
  EXPECT_EQ(codes(judged.reasons), "books");
}

TEST(Judgement, AStampOutsideOfSendAndNowIsABugOfTheDriver) {
  Summary summary = good();
  summary.bad_stamps = 1;
  const RigJudgement judged = judge_rig(summary, {});
  EXPECT_EQ(judged.status, RigStatus::kInvalid);
  EXPECT_EQ(codes(judged.reasons), "driver_stamps");
}

/// With bursts an operation waits for those before it in its burst, on purpose.
TEST(Judgement, JudgesTheFirstOfEachBurst) {
  Summary summary = good();
  summary.burst = 10;
  summary.histograms.response.reset();
  summary.histograms.lag.reset();
  for (int i = 0; i < 10'000; ++i) {
    summary.histograms.response.record(1500us);
    summary.histograms.lag.record(500us);
    if (i % 10 == 0) {
      summary.histograms.burst_lag.record(0ns);
    }
  }
  summary.in_flight = {};
  EXPECT_EQ(codes(judge_rig(summary, {}).reasons), "");
  summary.burst = 1;
  EXPECT_EQ(codes(judge_rig(summary, {}).reasons), "rig_share_p50 rig_share_p99");
  summary.burst = 10;
  for (int i = 0; i < 10'000; ++i) {
    summary.histograms.burst_lag.record(60us);
  }
  EXPECT_EQ(codes(judge_rig(summary, {}).reasons), "rig_share_p50 rig_share_p99");
}

TEST(Judgement, LittlesLawAllowsForTheScatterOfSamples) {
  Summary summary = good();
  summary.in_flight = {};
  for (int i = 0; i < 1000; ++i) {
    summary.in_flight.add(i % 8 == 0 ? 7 : 0);  // mean 0.875, ratio 1.14
  }
  EXPECT_NEAR(*summary.little_ratio(), 1.14, 0.01);
  EXPECT_EQ(codes(judge_rig(summary, {}).reasons), "");
  summary.in_flight = {};
  for (int i = 0; i < 1000; ++i) {
    summary.in_flight.add(0.875);
  }
  EXPECT_EQ(codes(judge_rig(summary, {}).reasons), "little");
}

TEST(Judgement, AnUnknownIsNotJudged) {
  Summary summary = good();
  summary.counts.at_cap = 5'000;
  EXPECT_EQ(codes(judge_rig(summary, {}).reasons), "") << "nobody measured the servers";
  EXPECT_EQ(codes(judge_rig(summary, {.servers_cpu_share = 0.1}).reasons), "cap_bound");
}

TEST(Judgement, TheWorstReasonDecides) {
  const Surroundings surroundings{
      .steal_share = 0.5, .acknowledged_missing = 1, .leader_elsewhere = true};
  const RigJudgement judged = judge_rig(good(), surroundings);
  EXPECT_EQ(judged.status, RigStatus::kInvalid);
  EXPECT_EQ(codes(judged.reasons), "steal acknowledged_missing leader_elsewhere");
}

TEST(Summary, ARunOfNothingHasNoNumbers) {
  Summary summary(60s);
  summary.window = {.start = 10s, .end = 2s};  // interrupted in the warm-up
  EXPECT_EQ(summary.measure_s(), 0);
  EXPECT_EQ(summary.achieved_per_s(), 0);
  EXPECT_EQ(summary.in_flight_mean(), std::nullopt);
  EXPECT_EQ(summary.little_ratio(), std::nullopt);
  EXPECT_EQ(summary.rig_share(kP50), std::nullopt);
  EXPECT_EQ(summary.at_if_lost_were_infinite(kP50), std::nullopt);
  EXPECT_EQ(codes(judge_rig(summary, {}).reasons), "few_ok");
  EXPECT_EQ(codes(judge_load(summary, {}).reasons), "");
}

TEST(Summary, CountsTheLostAsInfinite) {  // C41
  Summary summary = good();
  summary.books.scheduled = 20'000;  // half of them dropped
  EXPECT_EQ(summary.at_if_lost_were_infinite(kP50), 1ms);
  EXPECT_EQ(summary.at_if_lost_were_infinite(kQuantiles[1]), std::nullopt);
}

TEST(Summary, SamplesAtEveryPhaseOfTheSchedule) {
  // A server with 0.3 ms of service at 1000/s has 0.3 in flight on average. Sampling every
  // 10 ms would see the same instant of each ms.
  for (const Duration phase : {Duration{0}, Duration{60us}, Duration{700us}}) {
    InFlightSamples samples;
    Duration last{-1};
    for (std::uint64_t i = 0; i < 1000; ++i) {
      const Duration at = sample_offset(i);
      EXPECT_GT(at, last);
      EXPECT_GE(at, static_cast<std::int64_t>(i) * Duration{10ms});
      EXPECT_LT(at, static_cast<std::int64_t>(i + 1) * Duration{10ms});
      last = at;
      samples.add((at + phase) % Duration{1ms} < Duration{300us} ? 1 : 0);
    }
    EXPECT_NEAR(*samples.mean(), 0.3, 0.01);
  }
}

TEST(Summary, StandardErrorOfTheMean) {
  InFlightSamples samples;
  EXPECT_EQ(samples.mean(), std::nullopt);
  EXPECT_EQ(samples.standard_error(), 0);
  for (const double value : {1.0, 2.0, 3.0, 4.0}) {
    samples.add(value);
  }
  EXPECT_DOUBLE_EQ(*samples.mean(), 2.5);
  EXPECT_NEAR(samples.standard_error(), std::sqrt(5.0 / 3 / 4), 1e-12);
}

}  // namespace
}  // namespace raftperf::load
