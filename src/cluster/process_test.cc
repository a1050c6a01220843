// SPDX-License-Identifier: Apache-2.0
#include "cluster/process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cluster/cluster_state.h"
#include "cluster/fixture_for_test.h"
#include "cluster/node_record.h"
#include "cluster/port_owner.h"
#include "net/socket.h"

namespace raftperf::cluster {
namespace {

using std::chrono::milliseconds;

class ProcessTest : public ClusterTest {
 protected:
  ProcessOptions shell(const std::string& script) const {
    ProcessOptions options;
    options.arguments = {"/bin/sh", "-c", script};
    options.working_directory = directory_;
    options.log = directory_ / "log";
    options.run_token = 77;
    return options;
  }

  StopOutcome stop(Process& process, milliseconds grace) const {
    const ProcessGroup* group = &process.group();
    const StopOutcome outcome = stop_groups({&group, 1}, grace).front();
    process.reap();
    return outcome;
  }
};

TEST_F(ProcessTest, LeadsItsOwnSessionAndCarriesTheRunToken) {
  auto started = Process::start(shell("echo hello; echo trouble >&2; exec sleep 100"));
  ASSERT_TRUE(started.ok()) << started.error();
  Process process = *std::move(started);
  const ProcessIdentity identity = process.identity();
  EXPECT_EQ(::getsid(identity.pid), identity.pid);
  EXPECT_EQ(::getpgid(identity.pid), identity.pid);
  EXPECT_EQ(read_run_token(identity.pid), 77U);
  EXPECT_TRUE(is_running(identity));
  EXPECT_FALSE(process.exit_status());
  EXPECT_TRUE(eventually([&] { return read_file(directory_ / "log") == "hello\ntrouble\n"; }));
  EXPECT_EQ(stop(process, milliseconds(5000)), StopOutcome::kTerminated);
  EXPECT_FALSE(is_running(identity));
}

TEST_F(ProcessTest, HoldsNoDescriptorOfOurs) {
  int leaky[2];
  ASSERT_EQ(::pipe(leaky), 0);  // Without O_CLOEXEC, as a shell's or make's would be.
  auto process = Process::start(shell("ls /proc/self/fd | wc -l; exec sleep 100"));
  ASSERT_TRUE(process.ok());
  // 0, 1, 2 and the one by which ls reads the directory; of the pipe to wc one end is 1.
  EXPECT_TRUE(eventually([&] { return read_file(directory_ / "log") == "4\n"; }))
      << read_file(directory_ / "log");
  EXPECT_EQ(stop(*process, milliseconds(5000)), StopOutcome::kTerminated);
  ::close(leaky[0]);
  ::close(leaky[1]);
}

TEST_F(ProcessTest, SaysWhyAProgramCannotBeStarted) {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    // Nodes of kept clusters in other tests of this process.
  }
  ProcessOptions options = shell("");
  options.arguments = {"/no/such/program"};
  auto missing = Process::start(options);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error(), "/no/such/program: No such file or directory");
  options = shell("true");
  options.log = directory_ / "no" / "such" / "log";
  EXPECT_FALSE(Process::start(options).ok());
  options = shell("true");
  options.before_exec = [](const ProcessIdentity&) -> Result<void> { return Error{"no guard"}; };
  auto refused = Process::start(options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error(), "no guard");
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child was left behind";
}

TEST_F(ProcessTest, TellsHowItEnded) {
  auto exited = Process::start(shell("exit 3"));
  ASSERT_TRUE(exited.ok());
  ASSERT_TRUE(eventually([&] { return exited->ended(); }));
  EXPECT_EQ(to_string(*exited->exit_status()), "exited with status 3");
  exited->reap();
  auto killed = Process::start(shell("kill -SEGV $$"));
  ASSERT_TRUE(killed.ok());
  ASSERT_TRUE(eventually([&] { return killed->ended(); }));
  EXPECT_EQ(killed->exit_status()->signal_number, SIGSEGV);
  EXPECT_FALSE(is_running(killed->identity())) << "a zombie does not run";
  killed->reap();
}

TEST_F(ProcessTest, StopsGrandchildrenWithTheGroup) {
  auto process = Process::start(shell("sleep 100 & echo $!; sleep 100 & echo $!; wait"));
  ASSERT_TRUE(process.ok());
  ASSERT_TRUE(eventually([&] {
    const std::string log = read_file(directory_ / "log");
    return std::count(log.begin(), log.end(), '\n') == 2;
  }));
  const pid_t grandchild = std::stoi(read_file(directory_ / "log"));
  ASSERT_TRUE(is_alive(grandchild));
  EXPECT_EQ(stop(*process, milliseconds(5000)), StopOutcome::kTerminated);
  EXPECT_FALSE(is_alive(grandchild));
}

TEST_F(ProcessTest, StopsWhatADeadLeaderLeftBehind) {
  auto process =
      Process::start(shell("trap '' TERM; (while :; do sleep 1; done) & echo $!; exit 0"));
  ASSERT_TRUE(process.ok());
  ASSERT_TRUE(eventually([&] { return process->ended(); }));
  const pid_t orphan = std::stoi(read_file(directory_ / "log"));
  ASSERT_TRUE(is_alive(orphan));
  const ProcessIdentity identity = process->identity();
  process->reap();
  const ProcessGroup group = ProcessGroup::leaderless(identity);
  const ProcessGroup* pointer = &group;
  EXPECT_EQ(stop_groups({&pointer, 1}, milliseconds(100)).front(), StopOutcome::kKilled);
  EXPECT_FALSE(is_alive(orphan));
}

TEST_F(ProcessTest, KillsWhatIgnoresSigtermAndWakesWhatIsStopped) {
  auto deaf = Process::start(shell("trap '' TERM; echo on; while :; do sleep 1; done"));
  ASSERT_TRUE(deaf.ok());
  ASSERT_TRUE(eventually([&] { return read_file(directory_ / "log") == "on\n"; }));
  EXPECT_EQ(stop(*deaf, milliseconds(200)), StopOutcome::kKilled);

  auto frozen = Process::start(shell("exec sleep 100"));
  ASSERT_TRUE(frozen.ok());
  ASSERT_TRUE(frozen->group().signal(SIGSTOP));
  EXPECT_EQ(stop(*frozen, milliseconds(5000)), StopOutcome::kTerminated);
}

TEST_F(ProcessTest, ARecycledPidIsNeverTouched) {
  auto other = Process::start(shell("exec sleep 100"));
  ASSERT_TRUE(other.ok());
  ProcessIdentity wrong = other->identity();
  wrong.start_time += 1;
  EXPECT_FALSE(ProcessGroup::open(wrong).ok());
  EXPECT_FALSE(Process::adopt(wrong).ok());
  EXPECT_EQ(liveness(wrong), Liveness::kNotOurs);
  const ProcessGroup leaderless = ProcessGroup::leaderless(wrong);
  const ProcessGroup* group = &leaderless;
  // The run token of its environment is the one thing that still fits.
  wrong.run_token = 78;
  EXPECT_EQ(liveness(wrong), Liveness::kNotOurs);
  const ProcessGroup stranger = ProcessGroup::leaderless(wrong);
  group = &stranger;
  EXPECT_FALSE(group->signal(SIGKILL));
  EXPECT_EQ(stop_groups({&group, 1}, milliseconds(100)).front(), StopOutcome::kAlreadyGone);
  EXPECT_TRUE(is_alive(wrong.pid));
  EXPECT_EQ(stop(*other, milliseconds(5000)), StopOutcome::kTerminated);
}

TEST_F(ProcessTest, AnotherBootsProcessWithTheSamePidAndTicksIsNotOurs) {
  auto process = Process::start(shell("exec sleep 100"));
  ASSERT_TRUE(process.ok());
  ProcessIdentity identity = process->identity();
  identity.run_token = 78;
  EXPECT_EQ(liveness(identity), Liveness::kNotOurs);
  EXPECT_FALSE(Process::adopt(identity).ok());
  (void)stop(*process, milliseconds(5000));
  EXPECT_EQ(liveness(identity), Liveness::kGone);
}

TEST_F(ProcessTest, APidFileSurvivesTheRoundTripAndRefusesNonsense) {
  NodeRecord record;
  record.node = 2;
  record.identity = {.pid = 4711, .start_time = 123456789, .run_token = ~0ULL};
  record.endpoints = {{"client", "127.0.0.1:8302"}};
  record.log = "/var/log/node2.log";
  record.command = {"/bin/server", "--x", "\"quoted\""};
  const auto file = directory_ / "node2.json";
  ASSERT_TRUE(write_node_record(file, record).ok());
  const auto read = read_node_record(file);
  ASSERT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(read->identity, record.identity);
  EXPECT_EQ(read->endpoints, record.endpoints);
  EXPECT_EQ(read->command, record.command);
  for (const char* content : {"", "{", "[]", "{\"pid\": 1}", "{\"pid\": \"x\"}", "\xff"}) {
    write_file(file, content);
    EXPECT_FALSE(read_node_record(file).ok()) << content;
  }
  EXPECT_FALSE(read_node_record(directory_ / "none").ok());
  EXPECT_FALSE(write_node_record(directory_ / "no" / "such", record).ok());
}

TEST(PortOwner, NamesThePidAndCommandOfAListener) {
  auto listener = net::listen_on("127.0.0.1", 0);
  ASSERT_TRUE(listener.ok());
  const std::uint16_t port = net::bound_port(listener->get());
  EXPECT_FALSE(port_is_free("127.0.0.1", port));
  const auto owner = find_port_owner(port);
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->pid, ::getpid());
  EXPECT_NE(owner->command.find("cluster_test"), std::string::npos) << owner->command;
  listener->reset();
  EXPECT_TRUE(port_is_free("127.0.0.1", port));
  EXPECT_FALSE(find_port_owner(port));
}

TEST(PortOwner, SeesAListenerOnIpv6) {
  auto listener = net::listen_on("::1", 0);
  if (!listener) {
    GTEST_SKIP() << "no IPv6 here: " << listener.error();
  }
  const auto owner = find_port_owner(net::bound_port(listener->get()));
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->pid, ::getpid());
}

}  // namespace
}  // namespace raftperf::cluster
