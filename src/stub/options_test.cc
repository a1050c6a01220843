// SPDX-License-Identifier: Apache-2.0
#include "stub/options.h"

#include <gtest/gtest.h>

namespace raftperf::stub {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<const char*>;

Result<std::optional<Options>> parse(Words words) {
  words.insert(words.begin(), "raftperf-stub");
  return parse_options(static_cast<int>(words.size()), words.data());
}

Options good(const Words& words) {
  auto options = parse(words);
  EXPECT_TRUE(options.ok()) << options.error();
  return options.value().value();
}

TEST(Options, DefaultsAreAFaultlessLeaderOnAFreePort) {
  const Options options = good({});
  EXPECT_EQ(options.listen, (net::Endpoint{"127.0.0.1", 0}));
  EXPECT_EQ(options.identity.leader, options.identity.node);
  EXPECT_EQ(options.service.service, Service::kNone);
  EXPECT_FALSE(options.faults.never_leader);
  EXPECT_TRUE(options.freezes.empty());
}

TEST(Options, ReadsAllOfThem) {
  const Options options = good({"--listen",
                                "[::1]:8300",
                                "--node",
                                "2",
                                "--leader",
                                "-1",
                                "--run-token",
                                "18446744073709551615",
                                "--delay",
                                "1.5ms",
                                "--service",
                                "exp",
                                "--service-time",
                                "50us",
                                "--seed",
                                "9",
                                "--freeze",
                                "2s:500ms",
                                "--freeze",
                                "10:1",
                                "--drop-every",
                                "2",
                                "--hold-every",
                                "3",
                                "--apply-then-close-every",
                                "4",
                                "--ack-without-apply-every",
                                "5",
                                "--error-every",
                                "6",
                                "--busy-every",
                                "1k",
                                "--mismatch-every",
                                "8",
                                "--not-leader",
                                "-1",
                                "--not-leader-window",
                                "1m:30s",
                                "--arrival-log",
                                "a",
                                "--counters-file",
                                "c"});
  EXPECT_EQ(options.listen, (net::Endpoint{"::1", 8300}));
  EXPECT_EQ(options.identity.node, 2);
  EXPECT_EQ(options.identity.leader, -1);
  EXPECT_EQ(options.identity.run_token, ~std::uint64_t{0});
  EXPECT_EQ(options.service.delay, 1'500us);
  EXPECT_EQ(options.service.service, Service::kExponential);
  EXPECT_EQ(options.service.service_time, 50us);
  EXPECT_EQ(options.service.seed, 9U);
  ASSERT_EQ(options.freezes.size(), 2U);
  EXPECT_EQ(options.freezes[0].at, 2s);
  EXPECT_EQ(options.freezes[0].length, 500ms);
  EXPECT_EQ(options.freezes[1].at, 10s);
  EXPECT_EQ(options.faults.drop_every, 2U);
  EXPECT_EQ(options.faults.hold_every, 3U);
  EXPECT_EQ(options.faults.apply_then_close_every, 4U);
  EXPECT_EQ(options.faults.ack_without_apply_every, 5U);
  EXPECT_EQ(options.faults.error_every, 6U);
  EXPECT_EQ(options.faults.busy_every, 1'000U);
  EXPECT_EQ(options.faults.mismatch_every, 8U);
  EXPECT_EQ(options.faults.not_leader_hint, -1);
  EXPECT_FALSE(options.faults.never_leader) << "a window limits --not-leader";
  EXPECT_EQ(options.faults.not_leader_windows.at(0).at, 1min);
  EXPECT_EQ(options.arrival_log, "a");
  EXPECT_EQ(options.counters_file, "c");
}

TEST(Options, SomeFollowFromOthers) {
  EXPECT_EQ(good({"--node", "1"}).identity.leader, 1);
  EXPECT_EQ(good({"--capacity=100/s"}).service.service, Service::kCapacity);
  EXPECT_EQ(good({"--capacity", "0.5"}).service.capacity_micro_hertz, 500'000U);
  const Options redirecting = good({"--not-leader", "2"});
  EXPECT_TRUE(redirecting.faults.never_leader);
  EXPECT_EQ(redirecting.faults.not_leader_hint, 2);
}

// cases C63 and C67: what is refused is refused in one line that names the option.
TEST(Options, MistakesAreOneLineThatNamesTheOption) {
  for (const Words& words : std::vector<Words>{
           {"--delay", "-1"},
           {"--delay", "1k5"},
           {"--delay", ""},
           {"--delay", "2h"},
           {"--delay"},
           {"--delay", "nan"},
           {"--capacity", "0"},
           {"--capacity", "inf"},
           {"--capacity", "1e999"},
           {"--capacity", "0.001"},
           {"--capacity", "1Ki"},
           {"--service", "uniform", "--service-time", "1ms"},
           {"--service", "exp"},
           {"--service-time", "1ms"},
           {"--service-time", "0", "--service", "exp"},
           {"--service", "exp", "--service-time", "1ms", "--capacity", "5"},
           {"--freeze", "1s"},
           {"--freeze", "1s:"},
           {"--freeze", ":1s"},
           {"--freeze", "1s:2s:3s"},
           {"--freeze", "1s:100h"},
           {"--freeze", "1s:1s", "--freeze", "x"},
           {"--drop-every", "0"},
           {"--hold-every", "-3"},
           {"--error-every", "1.5"},
           {"--not-leader", "-2"},
           {"--not-leader", "one"},
           {"--node", "-1"},
           {"--node", "99999999999"},
           {"--leader", "1x"},
           {"--listen", "127.0.0.1"},
           {"--listen", "::1:80"},
           {"--listen", "127.0.0.1:70000"},
           {"--run-token", "18446744073709551616"},
           {"--arrival-log", ""},
           {"--dealy", "1ms"},
           {"stray"},
       }) {
    const auto options = parse(words);
    ASSERT_FALSE(options.ok()) << words.front();
    EXPECT_NE(options.error().find(words.front()), std::string::npos) << options.error();
    EXPECT_EQ(options.error().find('\n'), std::string::npos) << options.error();
  }
}

}  // namespace
}  // namespace raftperf::stub
