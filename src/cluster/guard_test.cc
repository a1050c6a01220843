// SPDX-License-Identifier: Apache-2.0
#include "cluster/guard.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <sstream>

#include "cluster/fixture_for_test.h"
#include "cluster/process.h"

namespace raftperf::cluster {
namespace {

namespace fs = std::filesystem;

class GuardTest : public ClusterTest {
 protected:
  ~GuardTest() override {
    if (tool_ && !tool_->ended()) {
      tool_->group().signal(SIGKILL);  // A failed test must not leave it; its guard does the rest.
    }
  }

  /// The helper that stands for the tool, as a child whose output we read.
  Process& start_tool(const std::string& lifetime, const std::string& guard,
                      const std::string& knob) {
    port_ = free_ports(3);
    ProcessOptions options;
    options.arguments = {test_programs() / "raftperf-cluster-tool",
                         directory_ / "systems/fake/system.toml",
                         state().path,
                         std::to_string(port_),
                         lifetime,
                         guard,
                         knob};
    options.working_directory = directory_;
    options.log = directory_ / "tool.log";
    options.run_token = 1;
    auto tool = Process::start(options);
    if (!tool) {
      ADD_FAILURE() << tool.error();
    }
    tool_ = *std::move(tool);
    return *tool_;
  }

  /// What the tool printed once it is up: the data directory and the nodes' pids.
  bool read_up() {
    if (!eventually([&] { return read_file(directory_ / "tool.log").ends_with("\n"); })) {
      return false;
    }
    std::istringstream words(read_file(directory_ / "tool.log"));
    std::string verb;
    words >> verb >> data_root_;
    pids_.assign(std::istream_iterator<pid_t>(words), {});
    return verb == "up" && pids_.size() == 3;
  }

  bool all_gone() const {
    return std::none_of(pids_.begin(), pids_.end(), is_alive) && !fs::exists(data_root_);
  }

  /// Pids of the fake servers of this test, told by the ports in their arguments.
  std::vector<pid_t> servers_of_this_test() const {
    std::vector<pid_t> pids;
    for (const pid_t pid : all_pids()) {
      const std::string command = read_command(pid);
      if (!is_alive(pid) || command.find("raftperf-fake-server") == std::string::npos) {
        continue;
      }
      for (int node = 0; node < 3; ++node) {
        if (command.find(fmt::format(":{} ", port_ + node)) != std::string::npos) {
          pids.push_back(pid);
        }
      }
    }
    return pids;
  }

  void expect_cleaned_up_within_five_seconds() {
    const auto killed = std::chrono::steady_clock::now();
    const fs::path runs = state().path / "runs";
    EXPECT_TRUE(eventually([&] { return all_gone() && fs::is_empty(runs); }));
    EXPECT_LT(std::chrono::steady_clock::now() - killed, std::chrono::seconds(5));
  }

  std::optional<Process> tool_;
  std::uint16_t port_ = 0;
  std::string data_root_;
  std::vector<pid_t> pids_;
};

TEST_F(GuardTest, CleansUpAfterASigkillOfTheToolWhenForked) {
  Process& tool = start_tool("run", "fork", "no");
  ASSERT_TRUE(read_up()) << read_file(directory_ / "tool.log");
  ASSERT_TRUE(fs::exists(data_root_));
  ASSERT_EQ(::kill(tool.identity().pid, SIGKILL), 0);
  expect_cleaned_up_within_five_seconds();
  tool.reap();
}

TEST_F(GuardTest, CleansUpAfterASigkillOfTheToolWhenExecuted) {
  Process& tool = start_tool("run", "exec", "no");
  ASSERT_TRUE(read_up()) << read_file(directory_ / "tool.log");
  ASSERT_EQ(::kill(tool.identity().pid, SIGKILL), 0);
  expect_cleaned_up_within_five_seconds();
  tool.reap();
}

TEST_F(GuardTest, KillsServersThatIgnoreSigtermToo) {
  Process& tool = start_tool("run", "exec", "ignore-term");
  ASSERT_TRUE(read_up()) << read_file(directory_ / "tool.log");
  ASSERT_EQ(::kill(tool.identity().pid, SIGKILL), 0);
  expect_cleaned_up_within_five_seconds();
  tool.reap();
}

TEST_F(GuardTest, StopsGrandchildrenThatIgnoreSigterm) {
  Process& tool = start_tool("run", "exec", "grandchild");
  ASSERT_TRUE(read_up()) << read_file(directory_ / "tool.log");
  ASSERT_EQ(servers_of_this_test().size(), 6U);
  ASSERT_EQ(::kill(tool.identity().pid, SIGKILL), 0);
  expect_cleaned_up_within_five_seconds();
  EXPECT_TRUE(eventually([&] { return servers_of_this_test().empty(); }));
  tool.reap();
}

TEST_F(GuardTest, CleansUpWhenTheToolIsKilledDuringStartUp) {
  Process& tool = start_tool("run", "exec", "mute@2");
  ASSERT_TRUE(eventually([&] { return servers_of_this_test().size() == 3; }));
  ASSERT_EQ(::kill(tool.identity().pid, SIGKILL), 0);
  EXPECT_TRUE(eventually([&] { return servers_of_this_test().empty(); }));
  tool.reap();
}

TEST_F(GuardTest, AnInterruptedKeptClusterLeavesNothingBehind) {
  for (const int number : {SIGKILL, SIGINT}) {
    Process& tool = start_tool("keep", "exec", "mute@2");
    ASSERT_TRUE(eventually([&] { return servers_of_this_test().size() == 3; }));
    ASSERT_EQ(::kill(tool.identity().pid, number), 0);
    EXPECT_TRUE(eventually([&] { return servers_of_this_test().empty() && tool.ended(); }));
    EXPECT_TRUE(eventually([&] { return !fs::exists(state().kept("fake")); }));
    tool.reap();
  }
}

TEST_F(GuardTest, AKeptClusterOutlivesTheTool) {
  Process& tool = start_tool("keep", "exec", "no");
  ASSERT_TRUE(read_up()) << read_file(directory_ / "tool.log");
  ASSERT_TRUE(eventually([&] { return tool.ended(); }));
  tool.reap();
  auto cluster = LocalCluster::attach("fake", state(), log_);
  ASSERT_TRUE(cluster.ok()) << cluster.error();
  EXPECT_TRUE(std::all_of(pids_.begin(), pids_.end(), is_alive));
  EXPECT_TRUE(cluster.value()->down().problems.empty());
  EXPECT_TRUE(all_gone());
}

TEST_F(GuardTest, AReleasedGuardTouchesNothing) {
  ProcessOptions options;
  options.arguments = {"/bin/sleep", "100"};
  options.working_directory = directory_;
  options.log = directory_ / "log";
  options.run_token = 5;
  auto process = Process::start(options);
  ASSERT_TRUE(process.ok());
  auto guard = Guard::start();
  ASSERT_TRUE(guard.ok()) << guard.error();
  EXPECT_NE(::getsid(guard->pid()), ::getsid(0));
  ASSERT_TRUE(guard->watch(process->identity()).ok());
  ASSERT_TRUE(guard->watch(directory_).ok());
  guard->release();
  EXPECT_FALSE(is_alive(guard->pid()));
  EXPECT_TRUE(is_alive(process->identity().pid));
  EXPECT_TRUE(fs::exists(directory_));
  const ProcessGroup* group = &process->group();
  (void)stop_groups({&group, 1}, std::chrono::milliseconds(5000));
  process->reap();
}

TEST_F(GuardTest, LeavesAloneWhatItWasToldToForget) {
  const fs::path kept = directory_ / "kept";
  const fs::path dropped = directory_ / "dropped";
  fs::create_directories(kept);
  fs::create_directories(dropped);
  {
    auto guard = Guard::start();
    ASSERT_TRUE(guard.ok());
    ASSERT_TRUE(guard->watch(kept).ok());
    ASSERT_TRUE(guard->watch(dropped).ok());
    guard->forget(kept);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
      ::kill(guard->pid(), number);
    }
  }
  EXPECT_TRUE(fs::exists(kept));
  EXPECT_FALSE(fs::exists(dropped));
}

TEST_F(GuardTest, ADeadGuardIsNoticed) {
  auto guard = Guard::start();
  ASSERT_TRUE(guard.ok());
  ::kill(guard->pid(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return !guard->watch(directory_).ok(); }));
  EXPECT_FALSE(Guard::start({"/no/such/program"}).ok());
  EXPECT_FALSE(Guard::start({"/bin/true"}).ok());
}

}  // namespace
}  // namespace raftperf::cluster
