// SPDX-License-Identifier: Apache-2.0
#include "stub/service_times.h"

#include <gtest/gtest.h>

#include "stub/answer_queue.h"

namespace raftperf::stub {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{1h};

TEST(ServiceTimes, WithoutAPlanAnswersAreDueAtOnce) {
  ServiceTimes times({});
  EXPECT_TRUE(times.immediate());
  EXPECT_EQ(times.serve(kStart), kStart);
}

TEST(ServiceTimes, DelayIsThatOfInfinitelyManyServers) {
  ServiceTimes times({.delay = 1ms});
  EXPECT_FALSE(times.immediate());
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(times.serve(kStart), kStart + 1ms);
  }
  EXPECT_EQ(times.refuse(kStart), kStart + 1ms);
}

TEST(ServiceTimes, CapacityServesInOrderOfArrival) {
  ServiceTimes times({.service = Service::kCapacity, .capacity_micro_hertz = 100'000'000});
  EXPECT_EQ(times.serve(kStart), kStart + 10ms);
  EXPECT_EQ(times.serve(kStart), kStart + 20ms);
  EXPECT_EQ(times.serve(kStart + 5ms), kStart + 30ms);
  EXPECT_EQ(times.refuse(kStart + 5ms), kStart + 5ms) << "a refusal waits for no server";
  EXPECT_EQ(times.serve(kStart + 1s), kStart + 1s + 10ms) << "an idle server saves nothing up";
}

// An interval cut to whole nanoseconds would be 0.04 % too fast at this rate.
TEST(ServiceTimes, CapacityStaysExact) {
  for (const std::uint64_t per_second : {3U, 7U, 700'000U, 1'500'000U}) {
    ServiceTimes times(
        {.service = Service::kCapacity, .capacity_micro_hertz = per_second * 1'000'000});
    TimePoint last;
    for (std::uint64_t i = 0; i < per_second; ++i) {
      last = times.serve(kStart);
    }
    EXPECT_EQ(last, kStart + 1s) << per_second;
  }
}

TEST(ServiceTimes, FixedAddsTheDelayAfterTheService) {
  ServiceTimes times({.service = Service::kFixed, .service_time = 2ms, .delay = 1ms});
  EXPECT_EQ(times.serve(kStart), kStart + 3ms);
  EXPECT_EQ(times.serve(kStart), kStart + 5ms);
}

TEST(ServiceTimes, ExponentialHasItsMeanAndVariance) {
  ServiceTimes times({.service = Service::kExponential, .service_time = 1ms, .seed = 7});
  constexpr int kCount = 200'000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kCount; ++i) {
    // Each arrives long after the one before, so that what is left is its service time.
    const TimePoint arrival = kStart + i * 1s;
    const auto ms = std::chrono::duration<double, std::milli>(times.serve(arrival) - arrival);
    ASSERT_GE(ms.count(), 0);
    sum += ms.count();
    squares += ms.count() * ms.count();
  }
  const double mean = sum / kCount;
  EXPECT_NEAR(mean, 1.0, 0.01);
  EXPECT_NEAR(squares / kCount - mean * mean, 1.0, 0.05);
}

TEST(ServiceTimes, ASeedRepeatsItsServiceTimes) {
  const auto draw = [](std::uint64_t seed) {
    ServiceTimes times({.service = Service::kExponential, .service_time = 1ms, .seed = seed});
    std::vector<TimePoint> due(100);
    for (TimePoint& time : due) {
      time = times.serve(kStart);
    }
    EXPECT_TRUE(std::is_sorted(due.begin(), due.end()));
    return due;
  };
  EXPECT_EQ(draw(1), draw(1));
  EXPECT_NE(draw(1), draw(2));
}

TEST(AnswerQueue, KeepsItsOrderWhileItGrowsAndWraps) {
  AnswerQueue queue;
  std::uint64_t pushed = 0;
  std::uint64_t popped = 0;
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 1'000; ++i, ++pushed) {
      queue.push({.due = kStart + std::chrono::nanoseconds(pushed),
                  .connection = {},
                  .answer = {.to = {.correlation_id = pushed}}});
    }
    for (int i = 0; i < 700; ++i, ++popped) {
      ASSERT_EQ(queue.front().answer.to.correlation_id, popped);
      queue.pop();
    }
  }
  EXPECT_EQ(queue.size(), pushed - popped);
  for (; !queue.empty(); queue.pop(), ++popped) {
    ASSERT_EQ(queue.front().answer.to.correlation_id, popped);
  }
  EXPECT_EQ(popped, pushed);
}

}  // namespace
}  // namespace raftperf::stub
