// SPDX-License-Identifier: Apache-2.0
#include "cluster/local_cluster.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "cluster/cluster_probe.h"
#include "cluster/fixture_for_test.h"
#include "cluster/monitor.h"
#include "net/socket.h"

namespace raftperf::cluster {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

class LocalClusterTest : public ClusterTest {
 protected:
  /// The error of an attempt that must fail, and must leave nothing.
  std::string failure(ClusterOptions options) {
    options.run_token = new_run_token();
    auto cluster = LocalCluster::up(system(), options, log_);
    if (cluster) {
      ADD_FAILURE() << "it came up";
      return "";
    }
    EXPECT_FALSE(fs::exists(fs::path("/dev/shm") / ("raftperf-" + std::to_string(::getuid()) + "-" +
                                                    token_text(options.run_token))));
    for (const pid_t pid : all_pids()) {
      EXPECT_FALSE(is_alive(pid) && read_run_token(pid) == options.run_token) << pid;
    }
    return cluster.error();
  }

  std::string failure_with(const std::string& fault) {
    ClusterOptions options = this->options();
    options.knobs["bad"] = fault;
    return failure(options);
  }
};

TEST_F(LocalClusterTest, ComesUpAndGoesDownWithoutATrace) {
  auto up = LocalCluster::up(system(), options(), log_);
  ASSERT_TRUE(up.ok()) << up.error();
  LocalCluster& cluster = *up.value();
  EXPECT_EQ(cluster.clients().size(), 3U);
  EXPECT_TRUE(cluster.state().data_root.native().starts_with("/dev/shm/raftperf-"));
  const pid_t pid = cluster.pid(1);
  EXPECT_EQ(cluster.liveness(1), Liveness::kRunning);
  EXPECT_EQ(count_events(log_, EventCode::kNodeStarted), 3);
  EXPECT_EQ(count_events(log_, EventCode::kNodeReady), 3);

  const DownReport report = cluster.down();
  EXPECT_TRUE(report.problems.empty());
  ASSERT_EQ(report.nodes.size(), 3U);
  EXPECT_EQ(report.nodes[1].pid, pid);
  EXPECT_EQ(report.nodes[1].outcome, "stopped");
  EXPECT_EQ(report.removed.size(), 2U);
  EXPECT_FALSE(is_alive(pid));
  EXPECT_FALSE(fs::exists(cluster.state().data_root));
  EXPECT_FALSE(fs::exists(cluster.state().directory));
  EXPECT_EQ(count_events(log_, EventCode::kNodeExited), 0);
  EXPECT_TRUE(cluster.down().nodes.empty()) << "a second down has nothing to do";
}

TEST_F(LocalClusterTest, ADestroyedClusterIsStoppedAndKeepsTheLogsThatWereAskedFor) {
  ClusterOptions options = this->options();
  options.logs = directory_ / "logs";
  options.durability = "fsync";
  pid_t pid = -1;
  fs::path data_root;
  {
    auto up = LocalCluster::up(system(), options, log_);
    ASSERT_TRUE(up.ok()) << up.error();
    pid = up.value()->pid(0);
    data_root = up.value()->state().data_root;
    EXPECT_TRUE(fs::exists(data_root / "node2"));
    EXPECT_TRUE(fs::exists(directory_ / "logs/node0.json"));
  }
  EXPECT_FALSE(is_alive(pid));
  EXPECT_FALSE(fs::exists(data_root));
  EXPECT_TRUE(fs::exists(directory_ / "logs/node0.log"));
  EXPECT_FALSE(fs::exists(directory_ / "logs/node0.json"));
  auto again = LocalCluster::up(system(), options, log_);
  EXPECT_TRUE(again.ok()) << "an old ready line must not count: " << again.error();
}

TEST_F(LocalClusterTest, ATakenPortIsNamedWithItsHolder) {
  ClusterOptions options = this->options();
  auto listener = net::listen_on("127.0.0.1", static_cast<std::uint16_t>(*options.port_base + 1));
  ASSERT_TRUE(listener.ok());
  const std::string error = failure(options);
  EXPECT_NE(error.find("port " + std::to_string(*options.port_base + 1)), std::string::npos)
      << error;
  EXPECT_NE(error.find("pid " + std::to_string(::getpid())), std::string::npos) << error;
  EXPECT_EQ(count_events(log_, EventCode::kNodeStarted), 0);
}

TEST_F(LocalClusterTest, APortTakenByARunOfOursSaysSo) {
  const ClusterOptions options = this->options();
  auto first = LocalCluster::up(system(), options, log_);
  ASSERT_TRUE(first.ok()) << first.error();
  const std::string error = failure(options);
  EXPECT_NE(error.find("another raftperf started"), std::string::npos) << error;
}

TEST_F(LocalClusterTest, AnEarlyExitIsAnErrorAtOnceWithTheLog) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string error = failure_with("exit@1");
  EXPECT_NE(error.find("node 1 of fake exited with status 3"), std::string::npos) << error;
  EXPECT_NE(error.find("cannot open the log: no such luck"), std::string::npos) << error;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, options().ready_timeout);
  EXPECT_NE(failure_with("crash@2").find("node 2 of fake was killed by signal 9"),
            std::string::npos);
  EXPECT_NE(failure_with("exit-late@1").find("node 1 of fake exited with status 4"),
            std::string::npos);
}

TEST_F(LocalClusterTest, ANodeThatIsNeverReadyEndsAtTheDeadline) {
  ClusterOptions options = this->options();
  options.ready_timeout = milliseconds(1500);
  options.knobs["bad"] = "mute@2";
  std::string error = failure(options);
  EXPECT_NE(error.find("node 2 of fake printed no ready line in time"), std::string::npos) << error;
  options.knobs["bad"] = "busy";
  error = failure(options);
  EXPECT_NE(error.find("append was answered busy"), std::string::npos) << error;
}

TEST_F(LocalClusterTest, AnotherRunsServersAreNotMistakenForOurs) {
  EXPECT_NE(failure_with("wrong-token@1").find("node 1 of fake printed a ready line without"),
            std::string::npos);
  EXPECT_NE(failure_with("wrong-hello@1").find("another server serves that port"),
            std::string::npos);
}

TEST_F(LocalClusterTest, MistakesInTheOptionsStopItBeforeAnythingStarts) {
  ClusterOptions options = this->options();
  options.nodes = 0;
  EXPECT_NE(failure(options).find("1 to 99"), std::string::npos);
  options = this->options();
  options.durability = "fsinc";
  EXPECT_NE(failure(options).find("did you mean 'fsync'?"), std::string::npos);
  options = this->options();
  options.knobs["bat"] = "x";
  EXPECT_NE(failure(options).find("did you mean 'bad'?"), std::string::npos);
  options = this->options();
  options.build = directory_;
  EXPECT_NE(failure(options).find("build it with: make test"), std::string::npos);
  options = this->options();
  options.port_base = 65534;
  EXPECT_NE(failure(options).find("out of range"), std::string::npos);
  options = this->options();
  options.data_parent = "/var/tmp";
  EXPECT_NE(failure(options).find("is not on tmpfs"), std::string::npos);
  options.data_parent = "/dev/shm";
  options.durability = "fsync";
  EXPECT_NE(failure(options).find("nothing there is durable"), std::string::npos);
  options = this->options();
  options.guard_arguments = {"/no/such/guard"};
  EXPECT_NE(failure(options).find("cannot be started as a guard"), std::string::npos);
  EXPECT_EQ(count_events(log_, EventCode::kNodeStarted), 0);
}

TEST_F(LocalClusterTest, AnInterruptionDuringStartUpLeavesNothing) {
  ClusterOptions options = this->options();
  options.knobs["bad"] = "mute@0";
  options.interrupted = [this] { return count_events(log_, EventCode::kNodeStarted) == 3; };
  EXPECT_NE(failure(options).find("interrupted"), std::string::npos);
}

TEST_F(LocalClusterTest, ServersThatIgnoreSigtermAreKilledWithTheirChildren) {
  for (const char* fault : {"ignore-term@1", "grandchild@1"}) {
    ClusterOptions options = this->options();
    options.knobs["bad"] = fault;
    options.stop_grace = milliseconds(300);
    auto up = LocalCluster::up(system(), options, log_);
    ASSERT_TRUE(up.ok()) << up.error();
    const DownReport report = up.value()->down();
    EXPECT_EQ(report.nodes[0].outcome, "stopped");
    EXPECT_NE(report.nodes[1].outcome.find("killed"), std::string::npos) << fault;
    for (const pid_t pid : all_pids()) {
      EXPECT_FALSE(is_alive(pid) && read_run_token(pid) == up.value()->run_token());
    }
  }
}

TEST_F(LocalClusterTest, ADecoyWithTheServersNameSurvives) {
  ClusterOptions options = this->options();
  ProcessOptions decoy;
  decoy.arguments = {"/bin/sh", "-c", "exec sleep 100", "raftperf-fake-server", "--node", "0"};
  decoy.working_directory = directory_;
  decoy.log = directory_ / "decoy.log";
  auto process = Process::start(decoy);
  ASSERT_TRUE(process.ok());
  ASSERT_TRUE(LocalCluster::up(system(), options, log_).ok());  // And down again.
  EXPECT_TRUE(is_alive(process->identity().pid));
  const ProcessGroup* group = &process->group();
  (void)stop_groups({&group, 1}, milliseconds(5000));
  process->reap();
}

TEST_F(LocalClusterTest, AnUnexpectedExitIsAnEventAtOnceAndAFaultIsPlanned) {
  auto up = LocalCluster::up(system(), options(), log_);
  ASSERT_TRUE(up.ok()) << up.error();
  LocalCluster& cluster = *up.value();
  ASSERT_EQ(::kill(cluster.pid(1), SIGABRT), 0);
  ASSERT_TRUE(eventually([&] { return count_events(log_, EventCode::kNodeExited) == 1; }));
  EXPECT_EQ(log_.events().back().node, 1);
  EXPECT_EQ(log_.events().back().origin, EventOrigin::kUnplanned);
  EXPECT_NE(log_.events().back().detail.find("signal 6"), std::string::npos);

  ASSERT_TRUE(cluster.kill_node(2).ok());
  ASSERT_TRUE(eventually([&] { return count_events(log_, EventCode::kNodeExited) == 2; }));
  EXPECT_EQ(log_.events().back().node, 2);
  EXPECT_EQ(log_.events().back().origin, EventOrigin::kPlanned);
  EXPECT_FALSE(cluster.kill_node(2).ok());
  EXPECT_FALSE(cluster.stop_node(2).ok());
  EXPECT_FALSE(cluster.stop_node(9).ok());
  const DownReport report = cluster.down();
  EXPECT_EQ(report.nodes[1].outcome, "already gone");
  EXPECT_TRUE(report.problems.empty());
}

TEST_F(LocalClusterTest, AKilledNodeCanBeStartedAgain) {
  auto up = LocalCluster::up(system(), options(), log_);
  ASSERT_TRUE(up.ok()) << up.error();
  LocalCluster& cluster = *up.value();
  EXPECT_FALSE(cluster.start_node(1).ok()) << "it runs";
  const pid_t before = cluster.pid(1);
  ASSERT_TRUE(cluster.kill_node(1).ok());
  auto started = cluster.start_node(1);
  ASSERT_TRUE(started.ok()) << started.error();
  EXPECT_NE(cluster.pid(1), before);
  EXPECT_EQ(cluster.liveness(1), Liveness::kRunning);
  ASSERT_EQ(::kill(cluster.pid(1), SIGABRT), 0);
  EXPECT_TRUE(eventually([&] {
    return log_.events().back().code == EventCode::kNodeExited &&
           log_.events().back().origin == EventOrigin::kUnplanned;
  }));
}

TEST_F(LocalClusterTest, CpuTimeOfANodeGrowsAndEndsWithIt) {
  auto up = LocalCluster::up(system(), options(), log_);
  ASSERT_TRUE(up.ok()) << up.error();
  LocalCluster& cluster = *up.value();
  const auto first = cluster.cpu_time(0);
  ASSERT_TRUE(first);
  EXPECT_GT(first->count(), 0);
  auto probe = ClusterProbe::create("wire", cluster.clients());
  for (int i = 0; i < 50; ++i) {
    (void)probe->look(milliseconds(1000));
  }
  EXPECT_GT(*cluster.cpu_time(0), *first);
  ASSERT_TRUE(cluster.kill_node(0).ok());
  EXPECT_FALSE(cluster.cpu_time(0));
}

}  // namespace
}  // namespace raftperf::cluster
