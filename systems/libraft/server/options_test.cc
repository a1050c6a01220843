// SPDX-License-Identifier: Apache-2.0
#include "systems/libraft/server/options.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace raftperf::libraft {
namespace {

const std::vector<const char*> kLeast = {
    "server", "--node", "1", "--nodes", "127.0.0.1:9200,127.0.0.1:9201,127.0.0.1:9202",
    "--dir",  "/tmp/x"};

CommandLine parse(std::initializer_list<const char*> more) {
  std::vector<const char*> arguments = kLeast;
  arguments.insert(arguments.end(), more);
  return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

/// What was said about a mistake; must be one line.
std::string complaint(std::initializer_list<const char*> more) {
  ::testing::internal::CaptureStderr();
  const CommandLine read = parse(more);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_FALSE(read.options);
  EXPECT_EQ(read.exit_code, 2);
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  return said;
}

TEST(Options, DefaultsAreLoopbackAndTheDocumentedNumbers) {
  const CommandLine read = parse({});
  ASSERT_TRUE(read.options);
  const Options& options = *read.options;
  EXPECT_EQ(options.node, 1);
  EXPECT_EQ(options.nodes.size(), 3U);
  EXPECT_EQ(net::to_string(options.listen), "127.0.0.1:9101");
  EXPECT_EQ(options.raft_address(2), "127.0.0.1:9202");
  EXPECT_EQ(options.election_timeout.count(), 1000);
  EXPECT_EQ(options.heartbeat.count(), 100);
  EXPECT_TRUE(options.pre_vote);
  EXPECT_FALSE(options.bootstrap);
  EXPECT_EQ(options.pending_max, 65536U);
  EXPECT_NE(options.incarnation, 0U);
  EXPECT_NE(options.incarnation, parse({}).options->incarnation);
}

TEST(Options, AreRead) {
  const CommandLine read = parse({"--listen",
                                  "[::1]:9300",
                                  "--bootstrap",
                                  "--election-timeout",
                                  "300ms",
                                  "--heartbeat",
                                  "30ms",
                                  "--pre-vote",
                                  "off",
                                  "--snapshot-threshold",
                                  "100",
                                  "--snapshot-trailing",
                                  "0",
                                  "--segment-size",
                                  "1MiB",
                                  "--pending-max",
                                  "7",
                                  "--run-token",
                                  "18446744073709551615",
                                  "--incarnation",
                                  "5",
                                  "--drain-timeout",
                                  "0"});
  ASSERT_TRUE(read.options);
  const Options& options = *read.options;
  EXPECT_EQ(options.listen.host, "::1");
  EXPECT_TRUE(options.bootstrap);
  EXPECT_EQ(options.election_timeout.count(), 300);
  EXPECT_EQ(options.heartbeat.count(), 30);
  EXPECT_FALSE(options.pre_vote);
  EXPECT_EQ(options.snapshot_threshold, 100U);
  EXPECT_EQ(options.snapshot_trailing, 0U);
  EXPECT_EQ(options.segment_size, 1048576U);
  EXPECT_EQ(options.pending_max, 7U);
  EXPECT_EQ(options.run_token, 18446744073709551615ULL);
  EXPECT_EQ(options.incarnation, 5U);
  EXPECT_EQ(options.drain_timeout.count(), 0);
}

TEST(Options, HostNamesBecomeTheLiteralsThatLibraftNeeds) {
  const CommandLine read = parse({"--nodes", "localhost:9300,127.0.0.1:9301"});
  ASSERT_TRUE(read.options);
  EXPECT_EQ(read.options->raft_address(0), "127.0.0.1:9300");
}

TEST(Options, MistakesAreOneLineWithOptionValueAndRange) {
  EXPECT_NE(complaint({"--node", "3"}).find("from 0 to 2"), std::string::npos);
  EXPECT_NE(complaint({"--node", "-1"}).find("--node"), std::string::npos);
  EXPECT_NE(complaint({"--nodes", "a"}).find("--nodes"), std::string::npos);
  EXPECT_NE(complaint({"--nodes", "127.0.0.1:1,127.0.0.1:1"}).find("twice"), std::string::npos);
  EXPECT_NE(complaint({"--nodes", "[::1]:9200,[::1]:9201"}).find("IPv4"), std::string::npos);
  EXPECT_NE(complaint({"--listen", "9100"}).find("--listen"), std::string::npos);
  EXPECT_NE(complaint({"--election-timeout", "soon"}).find("--election-timeout"),
            std::string::npos);
  EXPECT_NE(complaint({"--election-timeout", "1us"}).find("milliseconds"), std::string::npos);
  EXPECT_NE(complaint({"--heartbeat", "1s"}).find("below --election-timeout"), std::string::npos);
  EXPECT_NE(complaint({"--heartbeat", "0"}).find("--heartbeat"), std::string::npos);
  EXPECT_NE(complaint({"--pre-vote", "maybe"}).find("--pre-vote"), std::string::npos);
  EXPECT_NE(complaint({"--segment-size", "1"}).find("--segment-size"), std::string::npos);
  EXPECT_NE(complaint({"--pending-max", "0"}).find("--pending-max"), std::string::npos);
  EXPECT_NE(complaint({"--snapshot-threshold"}).find("--snapshot-threshold"), std::string::npos);
  EXPECT_NE(complaint({"--no-such-option"}).find("--no-such-option"), std::string::npos);
}

TEST(Options, HelpIsNoMistake) {
  ::testing::internal::CaptureStdout();
  const CommandLine read = parse({"--help"});
  EXPECT_NE(::testing::internal::GetCapturedStdout().find("--snapshot-threshold"),
            std::string::npos);
  EXPECT_FALSE(read.options);
  EXPECT_EQ(read.exit_code, 0);
}

}  // namespace
}  // namespace raftperf::libraft
