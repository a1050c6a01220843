// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "cluster/abandoned.h"
#include "cluster/cluster_state.h"
#include "cluster/fixture_for_test.h"
#include "cluster/local_cluster.h"
#include "cluster/node_record.h"

namespace raftperf::cluster {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

class KeptClusterTest : public ClusterTest {
 protected:
  ~KeptClusterTest() override {
    if (auto cluster = LocalCluster::attach("fake", state(), log_)) {
      EXPECT_TRUE(cluster.value()->down().problems.empty());
    }
  }

  ClusterOptions keep() const {
    ClusterOptions options = this->options();
    options.lifetime = ClusterOptions::Lifetime::kUntilDown;
    return options;
  }
};

TEST_F(KeptClusterTest, IsFoundStoppedAndForgotten) {
  const ClusterOptions options = keep();
  {
    auto up = LocalCluster::up(system(), options, log_);
    ASSERT_TRUE(up.ok()) << up.error();
  }
  auto found = LocalCluster::attach("fake", state(), log_);
  ASSERT_TRUE(found.ok()) << found.error();
  LocalCluster& cluster = *found.value();
  EXPECT_EQ(cluster.nodes(), 3);
  EXPECT_EQ(cluster.liveness(2), Liveness::kRunning);
  EXPECT_EQ(cluster.clients()[0].port, *options.port_base);
  EXPECT_EQ(cluster.state().durability, "memory");
  EXPECT_TRUE(cluster.cpu_time(0));
  ASSERT_TRUE(cluster.kill_node(1).ok());
  ASSERT_TRUE(cluster.start_node(1).ok());

  const DownReport report = cluster.down();
  EXPECT_TRUE(report.problems.empty());
  EXPECT_EQ(report.nodes[0].outcome, "stopped");
  EXPECT_FALSE(fs::exists(cluster.state().data_root));
  EXPECT_FALSE(LocalCluster::attach("fake", state(), log_).ok());
}

TEST_F(KeptClusterTest, UpWhenUpSaysSoAndItsPortsAreNamed) {
  ClusterOptions options = keep();
  ASSERT_TRUE(LocalCluster::up(system(), options, log_).ok());
  auto again = LocalCluster::up(system(), options, log_);
  ASSERT_FALSE(again.ok());
  EXPECT_NE(again.error().find("already up: 3 of its 3 nodes"), std::string::npos) << again.error();
  options.lifetime = ClusterOptions::Lifetime::kThisProcess;
  auto run = LocalCluster::up(system(), options, log_);
  ASSERT_FALSE(run.ok());
  EXPECT_NE(run.error().find("`raftperf cluster down fake` ends it"), std::string::npos)
      << run.error();
}

TEST_F(KeptClusterTest, StateOfDeadProcessesIsCleanedWithOneNote) {
  fs::path data_root;
  {
    auto up = LocalCluster::up(system(), keep(), log_);
    ASSERT_TRUE(up.ok()) << up.error();
    data_root = up.value()->state().data_root;
    for (int node = 0; node < 3; ++node) {
      ASSERT_TRUE(up.value()->kill_node(node).ok());
    }
  }
  EXPECT_TRUE(fs::exists(data_root));
  auto again = LocalCluster::up(system(), keep(), log_);
  ASSERT_TRUE(again.ok()) << again.error();
  EXPECT_EQ(count_events(log_, EventCode::kNote), 1);
  EXPECT_FALSE(fs::exists(data_root));
}

TEST_F(KeptClusterTest, APidFileThatNamesAnotherProgramIsNotOurs) {
  ASSERT_TRUE(LocalCluster::up(system(), keep(), log_).ok());
  const fs::path file = state().kept("fake") / "node1.json";
  auto record = read_node_record(file);
  ASSERT_TRUE(record.ok());
  // The node ends, and a sleep has "its" pid.
  {
    auto cluster = LocalCluster::attach("fake", state(), log_);
    ASSERT_TRUE(cluster.value()->kill_node(1).ok());
  }
  ProcessOptions options;
  options.arguments = {"/bin/sleep", "100"};
  options.working_directory = directory_;
  options.log = directory_ / "sleep.log";
  auto sleep = Process::start(options);
  ASSERT_TRUE(sleep.ok());
  record->identity.pid = sleep->identity().pid;
  ASSERT_TRUE(write_node_record(file, *record).ok());

  auto cluster = LocalCluster::attach("fake", state(), log_);
  ASSERT_TRUE(cluster.ok());
  EXPECT_EQ(cluster.value()->liveness(1), Liveness::kNotOurs);
  EXPECT_EQ(to_string(*cluster.value()->liveness(1)), "not ours");
  EXPECT_FALSE(cluster.value()->kill_node(1).ok());
  const DownReport report = cluster.value()->down();
  EXPECT_NE(report.nodes[1].outcome.find("not ours"), std::string::npos);
  EXPECT_TRUE(is_alive(sleep->identity().pid));
  const ProcessGroup* group = &sleep->group();
  (void)stop_groups({&group, 1}, milliseconds(5000));
  sleep->reap();
}

TEST_F(KeptClusterTest, WhatANodeLeftBehindIsStoppedThoughTheNodeIsGone) {
  ClusterOptions options = keep();
  options.knobs["bad"] = "grandchild@1";
  std::uint64_t token = 0;
  {
    auto up = LocalCluster::up(system(), options, log_);
    ASSERT_TRUE(up.ok()) << up.error();
    token = up.value()->run_token();
    const pid_t node = up.value()->pid(1);
    ASSERT_EQ(::kill(node, SIGKILL), 0);
    ASSERT_TRUE(eventually([&] { return !is_alive(node); }));
  }
  auto cluster = LocalCluster::attach("fake", state(), log_);
  ASSERT_TRUE(cluster.ok());
  EXPECT_TRUE(cluster.value()->down().problems.empty());
  for (const pid_t pid : all_pids()) {
    EXPECT_FALSE(is_alive(pid) && read_run_token(pid) == token);
  }
}

TEST_F(KeptClusterTest, TwoAtATimeAreKeptApart) {
  auto lock = state().lock("fake");
  ASSERT_TRUE(lock.ok());
  auto up = LocalCluster::up(system(), keep(), log_);
  ASSERT_FALSE(up.ok());
  EXPECT_NE(up.error().find("another raftperf is starting or stopping"), std::string::npos);
}

TEST_F(KeptClusterTest, ABrokenStateIsNamed) {
  const fs::path directory = state().kept("fake");
  fs::create_directories(directory);
  write_file(directory / "cluster.json", "{");
  auto cluster = LocalCluster::attach("fake", state(), log_);
  ASSERT_FALSE(cluster.ok());
  EXPECT_NE(cluster.error().find("cluster.json: is not a cluster's state"), std::string::npos);
  fs::remove_all(directory);
}

TEST_F(KeptClusterTest, WhatAKilledRunAndGuardLeftIsRemovedByTheNext) {
  const fs::path parent = state().path / "runs";
  const auto make = [&](const std::string& name, const std::string& owner) {
    fs::create_directories(parent / name);
    if (!owner.empty()) {
      write_file(parent / name / "owner", owner);
    }
    return parent / name;
  };
  const fs::path abandoned = make("0123456789abcdef", "1 1\n");  // Pid 1 started otherwise.
  const fs::path unclaimed = make("0123456789abcdee", "");
  const fs::path unrelated = make("something-else", "1 1\n");
  const fs::path ours = make("0123456789abcdea", "");
  ASSERT_TRUE(claim_directory(ours).ok());
  EXPECT_EQ(remove_abandoned(parent, state()), std::vector<fs::path>{abandoned});
  EXPECT_TRUE(fs::exists(unclaimed) && fs::exists(unrelated) && fs::exists(ours));

  ASSERT_TRUE(LocalCluster::up(system(), keep(), log_).ok());
  const auto kept = read_cluster_state(this->state().kept("fake"));
  const fs::path in_use = make(token_text((*kept)->run_token), "1 1\n");
  EXPECT_TRUE(remove_abandoned(parent, state()).empty());
  EXPECT_TRUE(fs::exists(in_use));
}

TEST(StateDirectory, TakesItsPlaceFromTheEnvironment) {
  ::setenv("RAFTPERF_STATE_DIR", "/a/b", 1);
  ::setenv("XDG_STATE_HOME", "/x", 1);
  EXPECT_EQ(StateDirectory::find()->path, "/a/b");
  ::unsetenv("RAFTPERF_STATE_DIR");
  EXPECT_EQ(StateDirectory::find()->path, "/x/raftperf");
  ::setenv("XDG_STATE_HOME", "relative", 1);
  ::setenv("HOME", "/home/u", 1);
  EXPECT_EQ(StateDirectory::find()->path, "/home/u/.local/state/raftperf");
  ::unsetenv("XDG_STATE_HOME");
  ::unsetenv("HOME");
  EXPECT_FALSE(StateDirectory::find().ok());
  ::setenv("RAFTPERF_STATE_DIR", "relative", 1);
  EXPECT_FALSE(StateDirectory::find().ok());
  ::unsetenv("RAFTPERF_STATE_DIR");
}

}  // namespace
}  // namespace raftperf::cluster
