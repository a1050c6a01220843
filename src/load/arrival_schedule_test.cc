// SPDX-License-Identifier: Apache-2.0
#include "load/arrival_schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "base/units.h"

namespace raftperf::load {
namespace {

using namespace std::chrono_literals;

ArrivalSchedule make(const std::string& rate, Duration measure, std::uint64_t burst = 1,
                     Duration warmup = 0s, ArrivalPattern arrival = ArrivalPattern::kUniform) {
  return *ArrivalSchedule::create({.rate = {.count = *parse_rate(rate)},
                                   .burst = burst,
                                   .arrival = arrival,
                                   .seed = 7,
                                   .warmup = warmup,
                                   .measure = measure});
}

TEST(ArrivalSchedule, IsWithinANanosecondOfTheExactInstantForEver) {
  for (const char* rate : {"7", "0.5", "1003", "300k", "700k", "1.5M"}) {
    const ArrivalSchedule schedule = make(rate, 10s);
    const std::uint64_t micro_hertz = *parse_rate(rate);
    for (const std::uint64_t k : {10'000'000ULL, 10'000'000'000ULL}) {
      if (k / micro_hertz > 9'000) {
        continue;  // 9 * 10^9 s are as far as 64 bits of nanoseconds reach
      }
      // t * rate = k up to a nanosecond, in integers: k * 10^15 - t * uHz in [0, uHz).
      const Uint128 exact = static_cast<Uint128>(k) * 1'000'000'000'000'000U;
      const Uint128 ours = static_cast<Uint128>(schedule.offset(k).count()) * micro_hertz;
      EXPECT_LE(ours, exact) << rate << " at " << k;
      EXPECT_LT(exact - ours, micro_hertz) << rate << " at " << k;
    }
  }
}

TEST(ArrivalSchedule, CountsExactly) {
  EXPECT_EQ(make("7", 10s).measured(), 70U);
  EXPECT_EQ(make("0.5", 10s).measured(), 5U);
  EXPECT_EQ(make("100.3", 10s).measured(), 1003U);
  EXPECT_EQ(make("1000", 10s, 7).measured(), 10'000U);
  EXPECT_EQ(make("1.5M", 3600s).measured(), 5'400'000'000U);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(make("30", 3s).measured(), 90U);  // C59
  }
}

TEST(ArrivalSchedule, WarmsUpForWholeBursts) {
  const ArrivalSchedule schedule = make("3", 10s, 2, 2500ms);
  EXPECT_EQ(schedule.first_measured(), 8U);  // ceil(7.5 / 2) * 2
  EXPECT_EQ(schedule.window().start, 2'666'666'666ns);
  EXPECT_EQ(schedule.window().end, 12'666'666'666ns);
  EXPECT_EQ(make("1000", 10s, 1, 2500ms).window().start, 2500ms);
}

TEST(ArrivalSchedule, SharesOneInstantInABurst) {
  const ArrivalSchedule schedule = make("1000", 10s, 7);
  EXPECT_EQ(schedule.offset(6), 0ns);
  EXPECT_EQ(schedule.offset(7), 7ms);
  EXPECT_EQ(schedule.offset(13), 7ms);
}

TEST(ArrivalSchedule, RefusesNonsense) {
  const auto error = [](ScheduleOptions options) {
    const auto schedule = ArrivalSchedule::create(options);
    return schedule ? std::string() : schedule.error();
  };
  EXPECT_NE(error({.measure = 1s}), "");                                    // no rate
  EXPECT_NE(error({.rate = {.count = 1}, .burst = 0, .measure = 1s}), "");  // no burst
  EXPECT_NE(error({.rate = {.count = 1}}), "");                             // no window
  EXPECT_NE(error({.rate = {.count = 1}, .warmup = -1s, .measure = 1s}), "");
  EXPECT_NE(error({.rate = {.count = 1'000'000}, .measure = 400ms}), "");  // 0.4 operations
  EXPECT_EQ(error({.rate = {.count = 1'000'000}, .measure = 500ms}), "");  // rounds to one
  EXPECT_NE(error({.rate = {.count = 1'000'000}, .burst = 64, .measure = 10s}), "");  // C61
}

struct Due {
  Duration offset;
  Phase phase;
  bool first_of_burst;
  bool operator==(const Due&) const = default;
};

/// Everything that `workers` cursors draw, by number; fails on a number drawn twice.
std::map<std::uint64_t, Due> draw(const ArrivalSchedule& schedule, std::uint32_t workers) {
  std::map<std::uint64_t, Due> drawn;
  for (std::uint32_t worker = 0; worker < workers; ++worker) {
    ScheduleCursor cursor(schedule, {.worker = worker, .workers = workers});
    Duration last{0};
    for (; !cursor.done(); cursor.advance()) {
      EXPECT_GE(cursor.offset(), last);
      last = cursor.offset();
      const bool inserted =
          drawn.emplace(cursor.k(), Due{cursor.offset(), cursor.phase(), cursor.first_of_burst()})
              .second;
      EXPECT_TRUE(inserted) << "number " << cursor.k() << " was drawn twice";
    }
  }
  return drawn;
}

TEST(ScheduleCursor, TogetherTheWorkersDrawTheSchedule) {
  for (const std::uint64_t burst : {1U, 2U, 7U, 64U}) {
    const ArrivalSchedule schedule = make("100.3", 10s, burst, 1500ms);
    const auto whole = draw(schedule, 1);
    EXPECT_EQ(whole.size(), schedule.first_measured() + 1003);
    for (const auto& [k, due] : whole) {
      EXPECT_EQ(due.offset, schedule.offset(k));
      EXPECT_EQ(due.phase == Phase::kMeasurement, k >= schedule.first_measured());
      EXPECT_EQ(due.phase == Phase::kMeasurement, schedule.window().contains(due.offset));
      EXPECT_EQ(due.first_of_burst, k % burst == 0);
    }
    for (std::uint32_t workers = 2; workers <= 10; ++workers) {
      EXPECT_EQ(draw(schedule, workers), whole) << workers << " workers, burst " << burst;
    }
  }
}

TEST(ScheduleCursor, SomeWorkersMayHaveNothingToDo) {
  const ArrivalSchedule schedule = make("1", 3s);
  EXPECT_EQ(draw(schedule, 8).size(), 3U);
  EXPECT_TRUE(ScheduleCursor(schedule, {.worker = 7, .workers = 8}).done());
}

TEST(ScheduleCursor, DrawsTheSamePoissonArrivalsForAnyNumberOfWorkers) {
  for (const std::uint64_t burst : {1U, 5U}) {
    const ArrivalSchedule schedule = make("1000", 5s, burst, 1s, ArrivalPattern::kPoisson);
    const auto whole = draw(schedule, 1);
    for (std::uint32_t workers = 2; workers <= 10; ++workers) {
      EXPECT_EQ(draw(schedule, workers), whole) << workers;
    }
    // 6000 expected, scattered by sqrt(6000 * burst).
    EXPECT_NEAR(static_cast<double>(whole.size()), 6000,
                5 * std::sqrt(6000.0 * static_cast<double>(burst)));
    for (const auto& [k, due] : whole) {
      EXPECT_EQ(due.phase == Phase::kMeasurement, schedule.window().contains(due.offset));
    }
  }
}

TEST(ScheduleCursor, PoissonGapsAreExponential) {
  const ArrivalSchedule schedule = make("1000", 100s, 1, 0s, ArrivalPattern::kPoisson);
  double sum = 0;
  double squares = 0;
  double count = 0;
  Duration last{0};
  for (ScheduleCursor cursor(schedule, {}); !cursor.done(); cursor.advance()) {
    const double gap = std::chrono::duration<double>(cursor.offset() - last).count();
    last = cursor.offset();
    sum += gap;
    squares += gap * gap;
    ++count;
  }
  const double mean = sum / count;
  EXPECT_NEAR(mean, 1e-3, 2e-5);
  // The standard deviation of an exponential distribution is its mean.
  EXPECT_NEAR(std::sqrt(squares / count - mean * mean), 1e-3, 3e-5);
}

}  // namespace
}  // namespace raftperf::load
