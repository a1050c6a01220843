// SPDX-License-Identifier: Apache-2.0
//
// Three real processes: what a cluster promises its clients.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "systems/libraft/server/test_cluster.h"

namespace raftperf::libraft {
namespace {

constexpr std::chrono::milliseconds kAnswer = kPatience;

/// Adds 1 to a key until `count` additions were acknowledged; whoever leads. Returns
/// the last acknowledged value.
std::uint64_t count_up(TestCluster& cluster, std::uint64_t key, std::uint64_t count) {
  std::uint64_t acknowledged = 0;
  std::uint64_t done = 0;
  std::uint64_t last = 0;
  const bool finished = eventually([&] {
    const std::size_t leader = cluster.wait_for_leader();
    auto client = cluster.connect(leader);
    while (done < count && client.is_open()) {
      const auto reply =
          client.compare_and_set({.key = key, .expected = last, .desired = last + 1}, kAnswer);
      if (!reply) {
        break;
      }
      if (reply->status == wire::Status::kOk) {
        acknowledged = last = reply->value;
        ++done;
      } else if (reply->status == wire::Status::kMismatch) {
        last = reply->value;
      } else {
        break;
      }
    }
    return done >= count;
  });
  EXPECT_TRUE(finished);
  return acknowledged;
}

std::size_t another(std::size_t node) { return (node + 1) % 3; }

TEST(LibraftCluster, CommitsReadsAndRedirects) {
  TestCluster cluster;
  const std::size_t leader = cluster.wait_for_leader();
  auto client = cluster.connect(leader);
  EXPECT_EQ(client.hello().node, static_cast<std::int32_t>(leader));
  EXPECT_EQ(client.hello().run_token, 77U);

  auto reply = client.get(4, kAnswer);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->value, 0U);
  reply = client.compare_and_set({.key = 4, .expected = 0, .desired = 1ULL << 63U}, kAnswer);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->status, wire::Status::kOk);
  EXPECT_EQ(reply->value, 1ULL << 63U);
  reply = client.compare_and_set({.key = 4, .expected = 5, .desired = 6}, kAnswer);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->status, wire::Status::kMismatch);
  EXPECT_EQ(reply->value, 1ULL << 63U);
  reply = client.get(4, kAnswer);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->value, 1ULL << 63U);

  auto follower = cluster.connect(another(leader));
  for (int i = 0; i < 2; ++i) {
    reply = i == 0 ? follower.get(4, kAnswer) : follower.append(std::vector<std::byte>(3), kAnswer);
    ASSERT_TRUE(reply.ok());
    EXPECT_EQ(reply->status, wire::Status::kNotLeader);
    EXPECT_EQ(reply->hint, static_cast<std::int32_t>(leader));
  }
  EXPECT_TRUE(cluster.agree(3));
  const auto status = cluster.status(another(leader));
  ASSERT_TRUE(status);
  EXPECT_EQ(status->role, wire::Role::kFollower);
  EXPECT_EQ(status->leader, static_cast<std::int32_t>(leader));
  EXPECT_EQ(status->run_token, 77U);
  EXPECT_GE(status->term, 1U);
}

TEST(LibraftCluster, TakesPayloadsOfEverySize) {
  TestCluster cluster;
  auto client = cluster.connect(cluster.wait_for_leader());
  std::uint64_t last_index = 0;
  for (const std::size_t length : {std::size_t{1}, std::size_t{7}, std::size_t{64},
                                   std::size_t{4096}, std::size_t{1} << 20U}) {
    const auto reply = client.append(std::vector<std::byte>(length, std::byte{9}), kAnswer);
    ASSERT_TRUE(reply.ok()) << length;
    EXPECT_EQ(reply->status, wire::Status::kOk);
    EXPECT_GT(reply->value, last_index);
    last_index = reply->value;
  }
  EXPECT_TRUE(cluster.agree(6));
}

TEST(LibraftCluster, PipelinedRequestsAreAnsweredOnceEach) {
  constexpr std::uint64_t kEach = 400;
  TestCluster cluster;
  const std::size_t leader = cluster.wait_for_leader();
  const std::uint64_t before = cluster.status(leader)->operation_count;
  PipelinedClient client(cluster.client_endpoint(leader));
  for (std::uint64_t i = 0; i < kEach; ++i) {
    std::vector<std::byte> body(24);
    client.add_append(4 * i, 1 + i % 100);
    wire::put(body.data(), wire::CompareAndSet{.key = i, .expected = 0, .desired = i + 1000});
    client.add(wire::Kind::kCompareAndSet, 4 * i + 1, body);
    body.resize(8);
    wire::store(body.data(), i);
    client.add(wire::Kind::kGet, 4 * i + 2, body);
    client.add(wire::Kind::kStatus, 4 * i + 3, {});
  }
  ASSERT_TRUE(client.send());
  std::map<std::uint64_t, PipelinedClient::Reply> replies;
  std::set<std::uint64_t> log_indices;
  while (replies.size() < 4 * kEach) {
    const auto reply = client.receive();
    ASSERT_TRUE(reply) << replies.size() << " replies";
    EXPECT_EQ(reply->status, wire::Status::kOk);
    EXPECT_TRUE(replies.emplace(reply->id, *reply).second) << reply->id << " answered twice";
    if (reply->kind == wire::Kind::kAppend) {
      log_indices.insert(wire::load<std::uint64_t>(reply->body.data()));
    }
  }
  EXPECT_EQ(log_indices.size(), kEach) << "every append has an entry of its own";
  for (std::uint64_t i = 0; i < kEach; ++i) {
    EXPECT_EQ(wire::load<std::uint64_t>(replies[4 * i + 1].body.data()), i + 1000);
  }
  EXPECT_TRUE(cluster.agree(before + 2 * kEach));
  EXPECT_EQ(cluster.status(leader)->operation_count, before + 2 * kEach);
}

TEST(LibraftCluster, NoAcknowledgedWriteIsLostWhenTheLeaderIsKilled) {
  TestCluster cluster;
  const std::uint64_t acknowledged = count_up(cluster, 1, 200);
  const std::size_t old_leader = cluster.wait_for_leader();
  cluster.kill(old_leader);
  const std::size_t new_leader = cluster.wait_for_leader();
  EXPECT_NE(new_leader, old_leader);
  const auto reply = cluster.connect(new_leader).get(1, kAnswer);
  ASSERT_TRUE(reply.ok());
  EXPECT_GE(reply->value, acknowledged);
  const std::uint64_t more = count_up(cluster, 1, 50);
  EXPECT_GT(more, acknowledged);
  cluster.start(old_leader);
  EXPECT_TRUE(cluster.agree(250));
}

TEST(LibraftCluster, AKilledNodeCatchesUpByASnapshot) {
  TestCluster cluster(3, {"--snapshot-threshold", "100", "--snapshot-trailing", "10"});
  const std::size_t leader = cluster.wait_for_leader();
  count_up(cluster, 1, 20);
  const std::size_t killed = another(leader);
  cluster.kill(killed);
  count_up(cluster, 2, 1000);
  cluster.start(killed);
  EXPECT_TRUE(cluster.agree(1020));
  EXPECT_NE(cluster.errors(killed).find("\"event\":\"restored\""), std::string::npos)
      << cluster.errors(killed);
  EXPECT_NE(cluster.errors(leader).find("\"event\":\"snapshot\""), std::string::npos);
  // And once more from its own snapshot and log alone.
  const auto before = cluster.status(killed);
  cluster.kill(killed);
  cluster.start(killed);
  EXPECT_TRUE(cluster.agree(before->operation_count));
}

TEST(LibraftCluster, TheWholeClusterComesBackFromItsDirectories) {
  TestCluster cluster;
  const std::uint64_t acknowledged = count_up(cluster, 9, 100);
  for (std::size_t node = 0; node < 3; ++node) {
    cluster.kill(node);
  }
  for (std::size_t node = 0; node < 3; ++node) {
    cluster.start(node);
  }
  const auto reply = cluster.connect(cluster.wait_for_leader()).get(9, kAnswer);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->value, acknowledged);
  EXPECT_TRUE(cluster.agree(100));
}

TEST(LibraftCluster, LeadershipIsTransferred) {
  TestCluster cluster;
  const std::size_t leader = cluster.wait_for_leader();
  const auto target = static_cast<std::int32_t>(another(leader));
  auto client = cluster.connect(leader);
  auto reply = client.transfer_leader(7, kAnswer);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->status, wire::Status::kError);
  EXPECT_NE(reply->error_text.find("0 to 2"), std::string::npos);
  reply = client.transfer_leader(static_cast<std::int32_t>(leader), kAnswer);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->status, wire::Status::kOk) << "it leads already";
  reply = cluster.connect(another(leader)).transfer_leader(target, kAnswer);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->status, wire::Status::kNotLeader);
  // A transfer that the target misses is given up after an election time-out.
  EXPECT_TRUE(eventually([&] {
    const std::size_t now = cluster.wait_for_leader();
    if (now == static_cast<std::size_t>(target)) {
      return true;
    }
    (void)cluster.connect(now).transfer_leader(target, kAnswer);
    return false;
  }));
  count_up(cluster, 3, 10);
  EXPECT_TRUE(cluster.agree(10));
}

TEST(LibraftCluster, ADeposedLeaderAnswersNothingThatItCannotKnow) {
  TestCluster cluster;
  const std::size_t leader = cluster.wait_for_leader();
  const std::uint64_t before = cluster.status(leader)->operation_count;
  for (const std::size_t node : {another(leader), another(another(leader))}) {
    cluster.process(node).signal(SIGSTOP);
  }
  PipelinedClient client(cluster.client_endpoint(leader));
  PipelinedClient idle(cluster.client_endpoint(leader));
  client.add_append(1);
  client.add_append(2);
  idle.add(wire::Kind::kStatus, 1, {});
  ASSERT_TRUE(client.send());
  ASSERT_TRUE(idle.send());
  EXPECT_TRUE(idle.receive());
  EXPECT_FALSE(client.receive()) << "no majority, no answer";
  EXPECT_TRUE(client.is_closed());
  EXPECT_NE(cluster.errors(leader).find("\"event\":\"abandoned\""), std::string::npos);
  idle.add_append(2);
  ASSERT_TRUE(idle.send());
  const auto refused = idle.receive();
  ASSERT_TRUE(refused) << "a connection with nothing open stays";
  EXPECT_EQ(refused->status, wire::Status::kNotLeader);
  for (const std::size_t node : {another(leader), another(another(leader))}) {
    cluster.process(node).signal(SIGCONT);
  }
  cluster.wait_for_leader();
  EXPECT_TRUE(cluster.agree(before + 1));
}

TEST(LibraftCluster, SaysBusyWhenTooMuchIsPending) {
  TestCluster cluster(3, {"--pending-max", "4", "--election-timeout", "3s"});
  const std::size_t leader = cluster.wait_for_leader();
  for (const std::size_t node : {another(leader), another(another(leader))}) {
    cluster.process(node).signal(SIGSTOP);
  }
  PipelinedClient client(cluster.client_endpoint(leader));
  for (std::uint64_t id = 0; id < 10; ++id) {
    client.add_append(id);
  }
  ASSERT_TRUE(client.send());
  std::set<std::uint64_t> busy;
  for (int i = 0; i < 6; ++i) {
    const auto reply = client.receive();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, wire::Status::kBusy);
    busy.insert(reply->id);
  }
  EXPECT_EQ(busy, (std::set<std::uint64_t>{4, 5, 6, 7, 8, 9}));
  for (const std::size_t node : {another(leader), another(another(leader))}) {
    cluster.process(node).signal(SIGCONT);
  }
  for (std::uint64_t id = 0; id < 4; ++id) {
    const auto reply = client.receive();
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, wire::Status::kOk);
    EXPECT_EQ(reply->id, id);
  }
}

TEST(LibraftCluster, OneNodeAloneIsAClusterToo) {
  TestCluster cluster(1);
  EXPECT_EQ(cluster.wait_for_leader(), 0U);
  count_up(cluster, 1, 20);
  cluster.kill(0);
  cluster.start(0);
  const auto reply = cluster.connect(cluster.wait_for_leader()).get(1, kAnswer);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->value, 20U);
}

}  // namespace
}  // namespace raftperf::libraft
