// SPDX-License-Identifier: Apache-2.0
//
// Real processes: start, stop, sockets, and what a bad client can do.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "net/socket.h"
#include "systems/libraft/server/test_cluster.h"

namespace raftperf::libraft {
namespace {

constexpr std::chrono::milliseconds kAnswer = kPatience;

/// Starts a server that must refuse to, and returns what it said.
std::string refusal(const TestCluster& cluster, std::vector<std::string> arguments) {
  static int count = 0;
  const std::string log = fmt::format("{}.refusal{}", cluster.error_log(0), count++);
  ServerProcess process(
      {.arguments = std::move(arguments), .error_log = log, .descriptors_max = {}});
  EXPECT_EQ(process.ready_line(), "");
  EXPECT_EQ(process.wait_for_exit(), 1);
  std::ostringstream said;
  said << std::ifstream(log).rdbuf();
  return said.str();
}

std::vector<std::string> with(std::vector<std::string> arguments, const std::string& option,
                              const std::string& value) {
  arguments.insert(arguments.end(), {option, value});
  return arguments;
}

struct TcpSockets {
  int connected = 0;
  int without_no_delay = 0;
  bool permitted = true;
};

/// Looks at every connected TCP socket of another process.
TcpSockets look_at_sockets(pid_t pid) {
  TcpSockets found;
  const FileDescriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  for (const auto& entry : std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", pid))) {
    std::error_code ignored;
    const std::string target = std::filesystem::read_symlink(entry.path(), ignored).string();
    if (target.rfind("socket:", 0) != 0) {
      continue;
    }
    const int number = std::stoi(entry.path().filename().string());
    const FileDescriptor copy(
        static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), number, 0)));
    if (!copy.valid()) {
      found.permitted = false;
      return found;
    }
    sockaddr_storage peer{};
    socklen_t length = sizeof peer;
    if (::getpeername(copy.get(), reinterpret_cast<sockaddr*>(&peer), &length) != 0 ||
        peer.ss_family != AF_INET) {
      continue;  // A listener, or libuv's own pair.
    }
    int on = 0;
    length = sizeof on;
    EXPECT_EQ(::getsockopt(copy.get(), IPPROTO_TCP, TCP_NODELAY, &on, &length), 0);
    ++found.connected;
    found.without_no_delay += on == 0 ? 1 : 0;
  }
  return found;
}

TEST(LibraftProcess, EveryTcpConnectionHasNoDelay) {
  TestCluster cluster;
  const std::size_t leader = cluster.wait_for_leader();
  auto client = cluster.connect(leader);
  ASSERT_TRUE(client.status(kAnswer).ok());
  for (std::size_t node = 0; node < 3; ++node) {
    const TcpSockets found = look_at_sockets(cluster.process(node).pid());
    if (!found.permitted) {
      GTEST_SKIP() << "this kernel does not let one look at another process's sockets";
    }
    EXPECT_EQ(found.without_no_delay, 0);
    EXPECT_GE(found.connected, node == leader ? 3 : 1);
    EXPECT_EQ(cluster.errors(node).find("\"no_delay\":false"), std::string::npos);
    EXPECT_NE(cluster.errors(node).find("\"no_delay\":true"), std::string::npos);
  }
}

TEST(LibraftProcess, TheReadyLineSaysWhatItIs) {
  TestCluster cluster(1);
  cluster.kill(0);
  ServerProcess process({.arguments = cluster.arguments(0),
                         .error_log = cluster.error_log(0),
                         .descriptors_max = {}});
  const auto line = nlohmann::json::parse(process.ready_line());
  EXPECT_EQ(line["event"], "ready");
  EXPECT_EQ(line["system"], "libraft");
  EXPECT_EQ(line["node"], 0);
  EXPECT_EQ(line["client"], net::to_string(cluster.client_endpoint(0)));
  EXPECT_EQ(line["pid"], process.pid());
  EXPECT_EQ(line["run_token"], 77);
  const bool in_memory = cluster.directory(0).rfind("/dev/shm", 0) == 0;
  EXPECT_EQ(line["durability"], in_memory ? "memory" : "fsync");
}

TEST(LibraftProcess, RefusesWhatIsTakenOrWrongInOneLine) {
  TestCluster cluster;
  const auto free = free_ports(4);
  const auto address = [](std::uint16_t port) { return fmt::format("127.0.0.1:{}", port); };
  const std::string spare = cluster.directory(0) + "-spare";
  const std::string other_nodes =
      address(free[0]) + "," + address(free[1]) + "," + address(free[2]);
  std::vector<std::string> own = with(cluster.arguments(0), "--listen", address(free[3]));

  std::string said = refusal(cluster, with(cluster.arguments(0), "--dir", spare));
  EXPECT_NE(said.find("--listen"), std::string::npos) << said;
  EXPECT_NE(said.find("in use"), std::string::npos) << said;
  said = refusal(cluster, with(own, "--dir", spare));
  EXPECT_NE(said.find("raft address"), std::string::npos) << said;
  EXPECT_NE(said.find("in use"), std::string::npos) << said;
  said = refusal(cluster, with(own, "--nodes", other_nodes));
  EXPECT_NE(said.find("in use by another process"), std::string::npos) << said;

  cluster.kill(0);
  said = refusal(cluster, with(own, "--nodes", other_nodes));
  EXPECT_NE(said.find("belongs to the cluster"), std::string::npos) << said;
  said = refusal(cluster, with(with(own, "--node", "1"), "--nodes", other_nodes));
  EXPECT_NE(said.find("belongs to node 0"), std::string::npos) << said;
  std::erase(own, "--bootstrap");
  said = refusal(cluster, with(own, "--dir", spare + "2"));
  EXPECT_NE(said.find("--bootstrap"), std::string::npos) << said;
  cluster.start(0);
  cluster.wait_for_leader();
}

TEST(LibraftProcess, SigtermAnswersWhatWasAcceptedAndExitsWithZero) {
  TestCluster cluster;
  const std::size_t leader = cluster.wait_for_leader();
  PipelinedClient client(cluster.client_endpoint(leader));
  for (std::uint64_t id = 0; id < 1000; ++id) {
    client.add_append(id);
  }
  ASSERT_TRUE(client.send());
  ASSERT_TRUE(client.receive());
  cluster.process(leader).signal(SIGTERM);
  std::uint64_t answered = 1;
  while (const auto reply = client.receive()) {
    ++answered;
    EXPECT_TRUE(reply->status == wire::Status::kOk || reply->status == wire::Status::kNotLeader);
  }
  EXPECT_TRUE(client.is_closed());
  EXPECT_EQ(answered, 1000U);
  EXPECT_EQ(cluster.process(leader).wait_for_exit(), 0);
  EXPECT_NE(cluster.errors(leader).find("\"event\":\"stopped\""), std::string::npos);
  cluster.start(leader);
  cluster.wait_for_leader();
  EXPECT_TRUE(cluster.agree());
}

TEST(LibraftProcess, SigtermEndsInTimeAlsoWhenNothingCanBeAnswered) {
  TestCluster cluster(3, {"--drain-timeout", "100ms", "--election-timeout", "3s"});
  const std::size_t leader = cluster.wait_for_leader();
  for (std::size_t node = 0; node < 3; ++node) {
    if (node != leader) {
      cluster.process(node).signal(SIGSTOP);
    }
  }
  PipelinedClient client(cluster.client_endpoint(leader));
  client.add_append(1);
  client.add(wire::Kind::kStatus, 2, {});
  ASSERT_TRUE(client.send());
  ASSERT_TRUE(client.receive()) << "the status";
  cluster.process(leader).signal(SIGTERM);
  EXPECT_FALSE(client.receive());
  EXPECT_EQ(cluster.process(leader).wait_for_exit(), 0);
  EXPECT_NE(cluster.errors(leader).find("\"event\":\"drain_timeout\""), std::string::npos);
}

TEST(LibraftProcess, AMalformedFrameClosesThatConnectionAndNothingElse) {
  TestCluster cluster;
  const std::size_t leader = cluster.wait_for_leader();
  auto good = cluster.connect(leader);
  PipelinedClient bad(cluster.client_endpoint(leader));
  bad.add(wire::Kind::kStatus, 1, {});
  bad.add_bytes(std::vector<std::byte>(64, std::byte{0xee}));
  ASSERT_TRUE(bad.send());
  const auto reply = bad.receive();
  ASSERT_TRUE(reply) << "what came before it is answered";
  EXPECT_EQ(reply->id, 1U);
  EXPECT_FALSE(bad.receive());
  EXPECT_TRUE(bad.is_closed());
  EXPECT_NE(cluster.errors(leader).find("\"event\":\"malformed\""), std::string::npos);
  EXPECT_TRUE(good.append(std::vector<std::byte>(4), kAnswer).ok());
}

TEST(LibraftProcess, AClientThatOnlyStopsSendingStillGetsItsAnswers) {
  TestCluster cluster;
  PipelinedClient client(cluster.client_endpoint(cluster.wait_for_leader()));
  for (std::uint64_t id = 0; id < 100; ++id) {
    client.add_append(id);
  }
  ASSERT_TRUE(client.send());
  client.shut_down();
  for (int i = 0; i < 100; ++i) {
    const auto reply = client.receive();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, wire::Status::kOk);
  }
  EXPECT_FALSE(client.receive());
  EXPECT_TRUE(client.is_closed());
}

TEST(LibraftProcess, AClientThatDoesNotReadIsNotReadEither) {
  constexpr std::uint64_t kRequests = 1'000'000;  // 80 MB of replies.
  TestCluster cluster(1);
  cluster.wait_for_leader();
  PipelinedClient client(cluster.client_endpoint(0));
  for (std::uint64_t id = 0; id < kRequests; ++id) {
    client.add(wire::Kind::kStatus, id, {});
  }
  // Until nothing has moved for a while although others are served.
  auto other = cluster.connect(0);
  std::size_t left = client.send_some();
  for (int still = 0; still < 50; ++still) {
    ASSERT_TRUE(other.status(kAnswer).ok());
    if (const std::size_t now = client.send_some(); now < left) {
      left = now;
      still = 0;
    }
  }
  EXPECT_GT(left, 0U) << "it took everything, so it must hold the replies";
  std::uint64_t expected = 0;
  while (expected < kRequests) {
    (void)client.send_some();
    for (int i = 0; i < 1000 && expected < kRequests; ++i) {
      const auto reply = client.receive();
      ASSERT_TRUE(reply);
      ASSERT_EQ(reply->id, expected++);
      if (i % 100 == 0) {
        (void)client.send_some();
      }
    }
  }
}

TEST(LibraftProcess, OneConnectionTooManyIsClosedAndTheRestServed) {
  TestCluster cluster(1);
  cluster.kill(0);
  ServerProcess process({.arguments = cluster.arguments(0),
                         .error_log = cluster.error_log(0),
                         .descriptors_max = 96});
  ASSERT_NE(process.ready_line(), "");
  auto first = cluster.connect(0);
  std::vector<FileDescriptor> sockets;
  for (int i = 0; i < 60; ++i) {
    auto socket = net::connect_to(cluster.client_endpoint(0), kPatience);
    ASSERT_TRUE(socket.ok());
    sockets.push_back(std::move(*socket));
  }
  EXPECT_TRUE(eventually([&] {
    return cluster.errors(0).find("\"event\":\"connections_refused\"") != std::string::npos;
  }));
  EXPECT_TRUE(first.append(std::vector<std::byte>(4), kAnswer).ok());
  sockets.clear();
  EXPECT_TRUE(eventually([&] { return cluster.status(0).has_value(); }));
}

}  // namespace
}  // namespace raftperf::libraft
