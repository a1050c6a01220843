// SPDX-License-Identifier: Apache-2.0
#include "drivers/sim/sim_server.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "drivers/sim/sim_driver.h"

namespace raftperf::drivers {
namespace {

using namespace std::chrono_literals;
using load::Duration;
using load::TimePoint;

constexpr TimePoint kStart{1h};

TEST(SimServer, WithoutAQueueServesEachAtOnce) {
  SimServer server({.service_time = 5ms}, kStart);
  EXPECT_EQ(server.answer(kStart), kStart + 5ms);
  EXPECT_EQ(server.answer(kStart), kStart + 5ms);
}

TEST(SimServer, QueuesFirstInFirstOut) {
  SimServer server({.service_time = 5ms, .servers = 1}, kStart);
  EXPECT_EQ(server.answer(kStart), kStart + 5ms);
  EXPECT_EQ(server.answer(kStart + 1ms), kStart + 10ms);
  EXPECT_EQ(server.answer(kStart + 20ms), kStart + 25ms);
}

TEST(SimServer, SharesOneQueueAmongServers) {
  SimServer server({.service_time = 6ms, .servers = 3}, kStart);
  std::vector<Duration> answers;
  for (int i = 0; i < 7; ++i) {
    answers.push_back(server.answer(kStart + i * Duration{1ms}) - kStart);
  }
  EXPECT_EQ(answers, (std::vector<Duration>{6ms, 7ms, 8ms, 12ms, 13ms, 14ms, 18ms}));
}

TEST(SimServer, DoesNoWorkInAStall) {
  const SimServerOptions options{
      .service_time = 10ms, .stalls = {{.at = 5ms, .length = 20ms}, {.at = 30ms, .length = 1ms}}};
  SimServer server(options, kStart);
  EXPECT_EQ(server.answer(kStart) - kStart, Duration{30ms}) << "0 to 5, 25 to 30";
  EXPECT_EQ(server.answer(kStart + 10ms) - kStart, Duration{36ms}) << "25 to 30, 31 to 36";
  EXPECT_EQ(server.answer(kStart + 31ms) - kStart, Duration{41ms});
}

TEST(SimServer, ExponentialServiceHasItsMeanAndMedian) {
  SimServer server({.service_time = 1ms, .distribution = ServiceTime::kExponential, .seed = 3},
                   kStart);
  std::vector<Duration> times;
  Duration sum{0};
  for (int i = 0; i < 100'001; ++i) {
    times.push_back(server.answer(kStart) - kStart);
    sum += times.back();
  }
  std::nth_element(times.begin(), times.begin() + 50'000, times.end());
  EXPECT_NEAR(static_cast<double>(sum.count()) / 100'001, 1e6, 2e4);
  EXPECT_NEAR(static_cast<double>(times[50'000].count()), 0.693e6, 2e4);
}

std::string read(const std::map<std::string, std::string>& settings) {
  const auto options = SimDriver::read_settings(settings);
  return options ? std::string() : options.error();
}

TEST(SimSettings, AreRead) {
  const auto options = SimDriver::read_settings({{"service_time", "2ms"},
                                                 {"servers", "3"},
                                                 {"distribution", "exponential"},
                                                 {"stall", "3s:1s,1s:500ms"},
                                                 {"error_every", "7"}});
  ASSERT_TRUE(options.ok()) << options.error();
  EXPECT_EQ(options->server.service_time, Duration{2ms});
  EXPECT_EQ(options->server.servers, 3U);
  ASSERT_EQ(options->server.stalls.size(), 2U);
  EXPECT_EQ(options->server.stalls[0].at, Duration{1s}) << "sorted";
  EXPECT_EQ(options->error_every, 7U);
}

TEST(SimSettings, MistakesAreNamed) {
  EXPECT_EQ(read({{"servise_time", "1ms"}}),
            "sim: unknown setting 'servise_time'; did you mean 'service_time'?");
  EXPECT_EQ(read({{"stall", "2s"}}), "sim: stall: '2s' is not AT:FOR; example: 2s:500ms");
  EXPECT_EQ(read({{"stall", "1s:2s,2s:1s"}}), "sim: stall: '1s:2s,2s:1s' has periods that overlap");
  EXPECT_EQ(read({{"servers", "5000000000"}}),
            "sim: servers: '5000000000' is not a whole number from 0 to 1000000");
  EXPECT_NE(read({{"servers", "-1"}}), "");
  EXPECT_NE(read({{"nodes", "0"}}), "");
  EXPECT_NE(read({{"service_time", "fast"}}), "");
  EXPECT_NE(read({{"distribution", "normal"}}), "");
  EXPECT_NE(read({{"stall", "x:1s"}}), "");
}

}  // namespace
}  // namespace raftperf::drivers
