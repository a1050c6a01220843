// SPDX-License-Identifier: Apache-2.0
//
// A cluster that outlives the tool, and everyone else's processes that outlive both.
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/e2e/fixture.h"

namespace raftperf::e2e {
namespace {

namespace fs = std::filesystem;

constexpr int kUsage = 2;
constexpr int kNoCluster = 3;

class ClusterCommand : public LibraftTest {
 protected:
  void TearDown() override {
    if (is_up_) {
      run({"cluster", "down", "libraft"});
    }
  }

  Ended cluster(const Words& words) { return run(Words{"cluster"} + words); }

  Ended up(const Words& more = {}) {
    is_up_ = true;
    return cluster(Words{"up", "libraft", "--port-base", port()} + more);
  }

  nlohmann::json status() {
    const Ended ended = cluster({"status", "libraft", "--json"});
    EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
    return nlohmann::json::parse(ended.out, nullptr, false);
  }

  static int leader_of(const nlohmann::json& status) {
    for (const auto& node : status) {
      if (node.value("role", "") == "leader") {
        return node.at("node");
      }
    }
    return -1;
  }

  [[nodiscard]] std::string endpoints() const {
    std::string list;
    for (int node = 0; node < 3; ++node) {
      list += (node == 0 ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(ports().base() + node);
    }
    return list;
  }

 private:
  bool is_up_ = false;
};

TEST_F(ClusterCommand, OutlivesTheToolUntilDown) {
  const Ended started = up();
  ASSERT_EQ(started.status, 0) << started.err;
  EXPECT_NE(started.out.find("--nodes " + endpoints()), std::string::npos) << started.out;
  const auto pids = servers();
  EXPECT_EQ(pids.size(), 3U);
  const auto data = data_directories(pids);
  const auto seen = status();
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_GE(leader_of(seen), 0);
  for (const auto& node : seen) {
    EXPECT_TRUE(node.at("answers").get<bool>());
    EXPECT_TRUE(is_alive(node.at("pid").get<pid_t>()));
  }
  run(run_against(endpoints(), {"--threads", "4", "--warmup", "0s", "--measure", "1s"}));
  const auto record = read_record();
  EXPECT_EQ(record.verification.status, "passed") << record.verification.detail;
  EXPECT_EQ(record.cluster.placement, "sharing this machine with the client");
  EXPECT_EQ(servers().size(), 3U) << "a run stops only what it started";
  EXPECT_EQ(cluster({"down", "libraft"}).status, 0);
  expect_no_servers(2s);
  for (const fs::path& each : data) {
    EXPECT_FALSE(fs::exists(each.parent_path())) << each;
  }
  const Ended after = cluster({"status", "libraft"});
  EXPECT_EQ(after.status, kNoCluster);
  EXPECT_NE(after.err.find("cluster up libraft"), std::string::npos) << after.err;
  EXPECT_EQ(cluster({"down", "libraft"}).status, kNoCluster);
}

TEST_F(ClusterCommand, TransferLeaderMovesIt) {
  ASSERT_EQ(up().status, 0);
  const int from = leader_of(status());
  ASSERT_GE(from, 0);
  const std::string wanted = "node" + std::to_string((from + 1) % 3);
  const Ended moved = cluster({"transfer-leader", "libraft", "--to", wanted});
  EXPECT_EQ(moved.status, 0) << moved.err;
  EXPECT_EQ(leader_of(status()), (from + 1) % 3);
  const Ended wrong = cluster({"transfer-leader", "libraft", "--to", "node9"});
  EXPECT_EQ(wrong.status, kUsage);
  EXPECT_NE(wrong.err.find("--to 'node9'"), std::string::npos) << wrong.err;
}

TEST_F(ClusterCommand, ARunPutsTheLeaderWhereItWasAskedFor) {
  ASSERT_EQ(up().status, 0);
  const int wanted = (leader_of(status()) + 1) % 3;
  run({"run", "libraft", "--nodes", endpoints(), "--leader", "node" + std::to_string(wanted),
       "--out", out(), "--threads", "2", "--warmup", "0s", "--measure", "500ms"});
  const auto record = read_record();
  EXPECT_EQ(record.cluster.leader_at_start, wanted);
  EXPECT_EQ(record.cluster.leader_changes, 0U);
}

TEST_F(ClusterCommand, UpTwiceSaysSo) {
  ASSERT_EQ(up().status, 0);
  const auto pids = servers();
  const Ended again = up();
  EXPECT_EQ(again.status, kNoCluster);
  EXPECT_NE(again.err.find("up"), std::string::npos) << again.err;
  EXPECT_NE(again.err.find("cluster down libraft"), std::string::npos) << again.err;
  EXPECT_EQ(servers(), pids);
}

TEST_F(ClusterCommand, NodesThatDiedAreShownAndCleanedUp) {
  ASSERT_EQ(up().status, 0);
  const auto seen = status();
  ASSERT_EQ(seen.size(), 3U);
  const int leader = leader_of(seen);
  const auto& victim = seen.at(static_cast<std::size_t>((leader + 1) % 3));
  ASSERT_EQ(::kill(victim.at("pid").get<pid_t>(), SIGKILL), 0);
  const auto after = status();
  EXPECT_FALSE(after.at(static_cast<std::size_t>((leader + 1) % 3)).at("answers").get<bool>());
  cluster({"down", "libraft"});
  expect_no_servers(2s);
}

TEST_F(ClusterCommand, AForeignServerOnThePortIsNamed) {
  stub::StubProcess foreign = start_stub({"--listen", "127.0.0.1:" + port()});
  for (const Ended& ended : {up(), run(run_libraft({"--warmup", "0s", "--measure", "1s"}))}) {
    EXPECT_EQ(ended.status, kNoCluster);
    EXPECT_NE(ended.err.find(port()), std::string::npos) << ended.err;
    EXPECT_NE(ended.err.find(std::to_string(foreign.pid())), std::string::npos) << ended.err;
  }
  EXPECT_TRUE(is_alive(foreign.pid()));
  EXPECT_FALSE(fs::exists(out()));
  EXPECT_EQ(foreign.stop(), 0);
}

// C115: nothing is ever stopped for its name.
TEST_F(ClusterCommand, DecoysSurviveEverything) {
  const std::string name = "raftperf-libraft-server";
  const Process::Start decoy{.command = {"/bin/sleep", "600"},
                             .name = name,
                             .environment = {},
                             .directory = "/",
                             .out = here() / "decoy-out",
                             .err = here() / "decoy-err"};
  Process by_name(decoy);
  Process::Start following = decoy;
  following.command = {"/usr/bin/tail", "-f", "/dev/null", name};
  following.name.clear();
  Process by_arguments(following);
  ASSERT_EQ(up().status, 0);
  EXPECT_EQ(cluster({"down", "libraft"}).status, 0);
  run(run_libraft({"--warmup", "0s", "--measure", "500ms"}));
  fs::remove_all(out());
  Process killed = start(run_libraft({"--warmup", "0s", "--measure", "60s"}));
  nodes_of(killed, 3);
  killed.send_signal(SIGKILL);
  killed.wait(10s);
  expect_no_servers(6s);
  EXPECT_TRUE(by_name.running());
  EXPECT_TRUE(by_arguments.running());
}

TEST_F(ClusterCommand, InterruptedUpLeavesNothing) {
  for (const int delay : {20, 300, 700}) {
    Process tool = start({"cluster", "up", "libraft", "--port-base", port()});
    std::this_thread::sleep_for(std::chrono::milliseconds(delay));
    tool.send_signal_to_group(SIGINT);
    const Ended ended = tool.wait(40s);
    if (ended.status == 0) {  // it was up before the signal came
      cluster({"down", "libraft"});
    } else {
      EXPECT_EQ(ended.status, 130) << ended.err;
    }
    expect_no_servers(6s);
  }
}

}  // namespace
}  // namespace raftperf::e2e
