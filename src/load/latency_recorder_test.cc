// SPDX-License-Identifier: Apache-2.0
#include "load/latency_recorder.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "load/interval_merger.h"

namespace raftperf::load {
namespace {

using namespace std::chrono_literals;

constexpr Window kWindow{.start = 2500ms, .end = 5500ms};

TEST(IntervalIndex, CountsFromTheStartOfTheWindow) {
  EXPECT_EQ(interval_index(2500ms, kWindow), 0);
  EXPECT_EQ(interval_index(3500ms - 1ns, kWindow), 0);
  EXPECT_EQ(interval_index(3500ms, kWindow), 1);
  EXPECT_EQ(interval_index(2500ms - 1ns, kWindow), -1);
  EXPECT_EQ(interval_index(1500ms, kWindow), -1);
  EXPECT_EQ(interval_index(1500ms - 1ns, kWindow), -2);
  EXPECT_EQ(interval_index(0ms, kWindow), -3);
  for (std::int64_t index = -3; index < 4; ++index) {
    const Window bounds = interval_bounds(index, kWindow);
    EXPECT_EQ(interval_index(bounds.start, kWindow), index);
    EXPECT_EQ(interval_index(bounds.end - 1ns, kWindow), index);
    EXPECT_EQ(interval_index(bounds.end, kWindow), index + 1);
  }
}

Interval& schedule(LatencyRecorder& recorder, Duration offset) {
  Interval& interval = recorder.interval_at(offset);
  ++interval.books.scheduled;
  ++interval.unsettled;
  return interval;
}

void end_ok(LatencyRecorder& recorder, Interval& interval, Duration latency) {
  ++interval.books.sent;
  ++interval.books.ok;
  interval.histograms.response.record(latency);
  recorder.settle(interval);
}

struct Merged {
  explicit Merged(std::vector<LatencyRecorder*> recorders)
      : merger(std::move(recorders), [this](const Interval& interval) {
          seconds.push_back({interval.index, interval.phase, interval.books.ok,
                             interval.histograms.response.count()});
        }) {}
  struct Second {
    std::int64_t index;
    Phase phase;
    std::uint64_t ok;
    std::uint64_t recorded;
    bool operator==(const Second&) const = default;
  };
  std::vector<Second> seconds;
  IntervalMerger merger;
};

TEST(IntervalMerger, JoinsWorkersInOrder) {
  LatencyRecorder a(kWindow, 60s);
  LatencyRecorder b(kWindow, 60s);
  Merged merged({&a, &b});
  for (LatencyRecorder* recorder : {&a, &b}) {
    for (const Duration offset : {Duration{2s}, Duration{3s}, Duration{4s}}) {
      end_ok(*recorder, schedule(*recorder, offset), 1ms);
      recorder->hand_over();
    }
    if (recorder == &a) {
      merged.merger.collect();
      EXPECT_TRUE(merged.seconds.empty()) << "the other worker's share is missing";
    }
  }
  merged.merger.collect();
  const std::vector<Merged::Second> two{{-1, Phase::kWarmup, 2, 2}, {0, Phase::kMeasurement, 2, 2}};
  EXPECT_EQ(merged.seconds, two) << "the last second may still grow";
  a.finish();
  b.finish();
  merged.merger.collect();
  ASSERT_EQ(merged.seconds.size(), 3U);
  EXPECT_EQ(merged.seconds.back(), (Merged::Second{1, Phase::kMeasurement, 2, 2}));
}

TEST(IntervalMerger, WaitsForTheLastAnswerOfASecond) {
  LatencyRecorder recorder(kWindow, 60s);
  Merged merged({&recorder});
  Interval& first = schedule(recorder, 2500ms);
  Interval& second = schedule(recorder, 3500ms);
  schedule(recorder, 4500ms);
  Interval& third = recorder.interval_at(4600ms);
  end_ok(recorder, second, 1ms);  // out of order
  recorder.hand_over();
  merged.merger.collect();
  EXPECT_TRUE(merged.seconds.empty());
  end_ok(recorder, first, 3s);
  recorder.hand_over();
  merged.merger.collect();
  ASSERT_EQ(merged.seconds.size(), 2U);
  EXPECT_EQ(merged.seconds[0].index, 0);
  EXPECT_EQ(merged.seconds[1].index, 1);
  end_ok(recorder, third, 1ms);
  recorder.finish();
  merged.merger.collect();
  EXPECT_EQ(merged.seconds.size(), 3U);
}

TEST(IntervalMerger, PassesOverEmptySeconds) {
  LatencyRecorder recorder(kWindow, 60s);
  Merged merged({&recorder});
  end_ok(recorder, schedule(recorder, 0s), 1ms);
  end_ok(recorder, schedule(recorder, 5s), 1ms);
  recorder.finish();
  merged.merger.collect();
  ASSERT_EQ(merged.seconds.size(), 2U);
  EXPECT_EQ(merged.seconds[0].index, -3);
  EXPECT_EQ(merged.seconds[1].index, 2);
}

TEST(IntervalMerger, AWorkerWithoutOperationsHoldsNothingUpAtTheEnd) {
  LatencyRecorder busy(kWindow, 60s);
  LatencyRecorder idle(kWindow, 60s);
  Merged merged({&busy, &idle});
  end_ok(busy, schedule(busy, 3s), 1ms);
  busy.finish();
  idle.finish();
  merged.merger.collect();
  EXPECT_EQ(merged.seconds.size(), 1U);
}

/// The intervals that go round are always the same: memory is flat over time, whichever
/// worker is first.
TEST(IntervalMerger, GivesIntervalsBackToTheirWorkers) {
  LatencyRecorder a(kWindow, 60s);
  LatencyRecorder b(kWindow, 60s);
  Merged merged({&a, &b});
  std::vector<const Interval*> seen;
  for (int second = 0; second < 30; ++second) {
    // The second worker delivers first, so that its interval is the one that is joined to.
    for (LatencyRecorder* recorder : {&b, &a}) {
      Interval& interval = schedule(*recorder, std::chrono::seconds{second});
      if (std::find(seen.begin(), seen.end(), &interval) == seen.end()) {
        seen.push_back(&interval);
      }
      end_ok(*recorder, interval, 1ms);
      recorder->hand_over();
      merged.merger.collect();
    }
  }
  EXPECT_LE(seen.size(), 8U) << "both workers' first intervals, and no more";
  EXPECT_GE(merged.seconds.size(), 28U);
}

TEST(LatencyRecorder, CountsCompletionsByTheirOwnTime) {
  LatencyRecorder recorder(kWindow, 60s);
  EXPECT_EQ(recorder.completions_first(), -3);
  for (const Duration offset : {Duration{0}, Duration{2499ms}, Duration{2500ms}, Duration{5499ms},
                                Duration{5500ms}, Duration{3000ms}, Duration{300h}}) {
    recorder.completed_at(offset);
  }
  EXPECT_EQ(recorder.completed_in_window(), 3U);
  const auto second = [&](std::int64_t index) {
    return recorder.completions()[static_cast<std::size_t>(index + 3)].load();
  };
  EXPECT_EQ(second(-3), 1U);
  EXPECT_EQ(second(-1), 1U);
  EXPECT_EQ(second(0), 2U);
  EXPECT_EQ(second(2), 1U);
  EXPECT_EQ(second(3), 1U);
  EXPECT_EQ(recorder.completions().back(), 1U) << "after all that could be expected";
}

TEST(LatencyRecorder, AShortenedWindowEndsEarlier) {
  LatencyRecorder recorder(kWindow, 60s);
  recorder.completed_at(4s);
  recorder.shorten_window(4500ms);
  recorder.completed_at(4499ms);
  recorder.completed_at(4500ms);
  EXPECT_EQ(recorder.completed_in_window(), 2U);
}

TEST(Histograms, OverflowIsCountedOncePerValue) {
  Histograms histograms(60s);
  for (Histogram* histogram :
       {&histograms.response, &histograms.service, &histograms.lag, &histograms.held}) {
    histogram->record(1h);
  }
  EXPECT_EQ(histograms.overflow(), 4U);
  Histograms sum(60s);
  sum.add(histograms);
  sum.add(histograms);
  EXPECT_EQ(sum.overflow(), 8U);
}

}  // namespace
}  // namespace raftperf::load
