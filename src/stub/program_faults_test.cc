// SPDX-License-Identifier: Apache-2.0
//
// Each fault as a client sees it, its counts to the last one.
#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <set>

#include "stub/raw_client.h"
#include "stub/stub_process.h"
#include "wire/cpp/client.h"

namespace raftperf::stub {
namespace {

using namespace std::chrono_literals;
using wire::Kind;
using wire::Status;

constexpr auto kLong = 30s;  // Never waited for unless something is broken.

StubProcess start(const std::vector<std::string>& arguments) {
  auto stub = StubProcess::start(arguments);
  EXPECT_TRUE(stub.ok()) << stub.error();
  return std::move(stub).value();
}

/// What the stub counts must explain every operation that it received.
void expect_books_close(const nlohmann::json& counters) {
  std::uint64_t explained = 0;
  for (const auto& [name, count] : counters.at("answered").items()) {
    explained += count.get<std::uint64_t>();
  }
  for (const char* name : {"dropped", "closed_without_answer", "answers_lost", "pending"}) {
    explained += counters.at(name).get<std::uint64_t>();
  }
  EXPECT_EQ(counters.at("received"), explained) << counters.dump(2);
}

/// How many replies to operations had each status, hello not counted.
std::map<Status, int> by_status(const std::vector<OwnedReply>& replies) {
  std::map<Status, int> counts;
  for (const OwnedReply& reply : replies) {
    counts[reply.status] += reply.kind != Kind::kHello ? 1 : 0;
  }
  return counts;
}

std::set<std::uint64_t> ids(const std::vector<OwnedReply>& replies) {
  std::set<std::uint64_t> all;
  for (const OwnedReply& reply : replies) {
    all.insert(reply.id);
  }
  return all;
}

TEST(ProgramFaults, DroppedOperationsAreNeitherAnsweredNorApplied) {
  StubProcess stub = start({"--drop-every", "3"});
  RawClient client(stub.endpoint());
  client.send(hello_request() + append_requests(1, 30) + request(Kind::kStatus, 99));
  const auto replies = client.read(22);
  ASSERT_EQ(replies.size(), 22U);
  EXPECT_EQ(wire::get_node_status(replies.back().body).operation_count, 20U);
  EXPECT_FALSE(ids(replies).contains(30));
  const auto counters = stub.counters();
  EXPECT_EQ(counters.at("dropped"), 10);
  EXPECT_EQ(counters.at("applied"), 20);
  expect_books_close(counters);
}

TEST(ProgramFaults, HeldOperationsAreAnsweredAtTheDrain) {
  StubProcess stub = start({"--hold-every", "3"});
  RawClient client(stub.endpoint());
  client.send(hello_request() + append_requests(1, 30));
  EXPECT_EQ(client.read(21).size(), 21U);
  const auto counters = stub.counters();
  EXPECT_EQ(counters.at("held"), 10);
  EXPECT_EQ(counters.at("pending"), 10);
  EXPECT_EQ(counters.at("applied"), 30);
  expect_books_close(counters);
  EXPECT_EQ(stub.stop(), 0);
  const auto held = client.read(11);
  ASSERT_EQ(held.size(), 10U);
  EXPECT_EQ(held.front().id, 3U);
  EXPECT_EQ(stub.counters_file().at("pending"), 0);
  EXPECT_EQ(stub.counters_file().at("answered").at("ok"), 30);
  expect_books_close(stub.counters_file());
}

TEST(ProgramFaults, RefusalsAreCountedAndNotApplied) {
  StubProcess stub = start({"--error-every", "2", "--busy-every", "3"});
  RawClient client(stub.endpoint());
  client.send(hello_request() + append_requests(1, 60));
  EXPECT_EQ(by_status(client.read(61)),
            (std::map<Status, int>{{Status::kOk, 20}, {Status::kBusy, 10}, {Status::kError, 30}}));
  const auto counters = stub.counters();
  EXPECT_EQ(counters.at("answered").at("error"), 30);
  EXPECT_EQ(counters.at("answered").at("busy"), 10);
  EXPECT_EQ(counters.at("applied"), 20);
  expect_books_close(counters);
}

TEST(ProgramFaults, MismatchesComeWithTheValueThatStands) {
  StubProcess stub = start({"--mismatch-every", "2"});
  auto client = wire::Client::connect(stub.endpoint(), kLong);
  ASSERT_TRUE(client.ok()) << client.error();
  EXPECT_EQ(client->compare_and_set({.key = 1, .expected = 0, .desired = 5}, kLong)->status,
            Status::kOk);
  const auto forced = client->compare_and_set({.key = 1, .expected = 5, .desired = 6}, kLong);
  EXPECT_EQ(forced->status, Status::kMismatch);
  EXPECT_EQ(forced->value, 5U);
  EXPECT_EQ(client->get(1, kLong)->value, 5U);
  EXPECT_EQ(client->status(kLong)->node_status.operation_count, 2U);
  expect_books_close(stub.counters());
}

TEST(ProgramFaults, ApplyThenCloseLeavesNoAnswer) {
  StubProcess stub = start({"--apply-then-close-every", "5"});
  RawClient client(stub.endpoint());
  client.send(hello_request() + append_requests(1, 10));
  // The fifth is applied without an answer; those behind it are never taken in.
  EXPECT_EQ(client.read(11).size(), 5U);
  auto other = wire::Client::connect(stub.endpoint(), kLong);
  ASSERT_TRUE(other.ok()) << other.error();
  EXPECT_EQ(other->status(kLong)->node_status.operation_count, 5U);
  const auto counters = stub.counters();
  EXPECT_EQ(counters.at("received"), 5);
  EXPECT_EQ(counters.at("applied"), 5);
  EXPECT_EQ(counters.at("closed_without_answer"), 1);
  EXPECT_EQ(counters.at("connections_closed"), 1);
  expect_books_close(counters);
}

TEST(ProgramFaults, AcknowledgedWithoutApplyIsMissingInTheState) {
  StubProcess stub = start({"--ack-without-apply-every", "4"});
  RawClient client(stub.endpoint());
  client.send(hello_request() + append_requests(1, 40) + request(Kind::kStatus, 99));
  const auto replies = client.read(42);
  ASSERT_EQ(replies.size(), 42U);
  EXPECT_EQ(by_status(replies), (std::map<Status, int>{{Status::kOk, 41}}));
  EXPECT_EQ(wire::get_node_status(replies.back().body).operation_count, 30U);
  const auto counters = stub.counters();
  EXPECT_EQ(counters.at("acknowledged_without_apply"), 10);
  EXPECT_EQ(counters.at("applied"), 30);
  expect_books_close(counters);
}

TEST(ProgramFaults, ANodeThatDoesNotLeadRedirects) {
  for (const std::int32_t hint : {2, -1}) {
    StubProcess stub = start({"--not-leader", std::to_string(hint)});
    auto client = wire::Client::connect(stub.endpoint(), kLong);
    ASSERT_TRUE(client.ok()) << client.error();
    const auto redirected = client->get(1, kLong);
    EXPECT_EQ(redirected->status, Status::kNotLeader);
    EXPECT_EQ(redirected->hint, hint);
    const auto status = client->status(kLong);
    EXPECT_EQ(status->node_status.role, wire::Role::kFollower);
    EXPECT_EQ(status->node_status.leader, hint);
    EXPECT_EQ(stub.counters().at("answered").at("not_leader"), 1);
  }
}

TEST(ProgramFaults, ANotLeaderWindowBeginsWithTheFirstOperation) {
  StubProcess stub = start({"--not-leader-window", "0:24h", "--not-leader", "1"});
  auto client = wire::Client::connect(stub.endpoint(), kLong);
  ASSERT_TRUE(client.ok()) << client.error();
  EXPECT_EQ(client->status(kLong)->node_status.role, wire::Role::kLeader);
  EXPECT_EQ(client->get(1, kLong)->hint, 1);
  EXPECT_EQ(client->status(kLong)->node_status.role, wire::Role::kFollower);
}

TEST(ProgramFaults, AFreezeHoldsEverythingBack) {
  StubProcess stub = start({"--freeze", "0s:300ms"});
  RawClient client(stub.endpoint());
  const auto before = std::chrono::steady_clock::now();
  client.send(hello_request() + append_requests(1, 1));
  EXPECT_EQ(client.read(2).size(), 2U);
  client.send(append_requests(2, 1) + request(Kind::kStatus, 3));
  const auto late = client.read(2);
  ASSERT_EQ(late.size(), 2U);
  for (const OwnedReply& reply : late) {
    EXPECT_GE(reply.read_at - before, 300ms);
  }
  expect_books_close(stub.counters());
}

TEST(ProgramFaults, AFrozenStubStillEndsAtSigterm) {
  StubProcess stub = start({"--freeze", "0:24h", "--delay", "1s"});
  RawClient client(stub.endpoint());
  client.send(hello_request() + append_requests(1, 2));
  EXPECT_EQ(client.read(1).size(), 1U);
  EXPECT_EQ(stub.counters().at("pending"), 2) << "SIGUSR1 is heard as well";
  EXPECT_EQ(stub.stop(), 0);
  EXPECT_EQ(client.read(3).size(), 2U);
}

TEST(ProgramFaults, ADelayIsTheLeastLatencyOfEachAnswer) {
  StubProcess stub = start({"--delay", "50ms", "--busy-every", "2"});
  RawClient client(stub.endpoint());
  const auto before = std::chrono::steady_clock::now();
  client.send(hello_request() + append_requests(1, 20) + request(Kind::kStatus, 99));
  const auto replies = client.read(22);
  ASSERT_EQ(replies.size(), 22U);
  EXPECT_EQ(replies[0].kind, Kind::kHello);
  EXPECT_EQ(replies[1].kind, Kind::kStatus) << "control requests are not delayed";
  for (std::size_t i = 2; i < replies.size(); ++i) {
    EXPECT_EQ(replies[i].kind, Kind::kAppend);
    EXPECT_GE(replies[i].read_at - before, 50ms);
  }
  expect_books_close(stub.counters());
}

TEST(ProgramFaults, ACapacityIsNotExceeded) {
  StubProcess stub = start({"--capacity", "100/s"});
  RawClient client(stub.endpoint());
  const auto before = std::chrono::steady_clock::now();
  client.send(hello_request() + append_requests(1, 20));
  const auto replies = client.read(21);
  ASSERT_EQ(replies.size(), 21U);
  for (std::size_t i = 1; i < replies.size(); ++i) {
    EXPECT_EQ(replies[i].id, i);
    EXPECT_GE(replies[i].read_at - before, i * 10ms);
  }
}

TEST(ProgramFaults, WhatIsQueuedIsAnsweredAtSigterm) {
  StubProcess stub = start({"--service", "fixed", "--service-time", "100s"});
  RawClient client(stub.endpoint());
  client.send(hello_request() + append_requests(1, 20) + request(Kind::kStatus, 99));
  EXPECT_EQ(client.read(2).size(), 2U);
  EXPECT_EQ(stub.stop(), 0);
  EXPECT_EQ(client.read(21).size(), 20U);
  expect_books_close(stub.counters_file());
}

TEST(ProgramFaults, ExponentialServiceAnswersAll) {
  StubProcess stub = start({"--service", "exp", "--service-time", "50us", "--seed", "3"});
  RawClient client(stub.endpoint());
  client.send(hello_request() + append_requests(1, 500));
  EXPECT_EQ(client.read(501).size(), 501U);
  expect_books_close(stub.counters());
}

TEST(ProgramFaults, SeveralAtOnceStillClose) {
  StubProcess stub =
      start({"--drop-every", "7", "--hold-every", "11", "--error-every", "5", "--busy-every", "3",
             "--ack-without-apply-every", "13", "--delay", "1ms", "--capacity", "10k"});
  RawClient client(stub.endpoint());
  client.send(hello_request() + append_requests(1, 1'001));
  // 143 dropped and 78 of the others held.
  const auto replies = client.read(1 + 1'001 - 143 - 78);
  EXPECT_EQ(replies.size(), 1U + 1'001 - 143 - 78);
  EXPECT_EQ(ids(replies).size(), replies.size());
  const auto counters = stub.counters();
  EXPECT_EQ(counters.at("dropped"), 143);
  EXPECT_EQ(counters.at("held"), 78);
  EXPECT_EQ(counters.at("pending"), 78);
  expect_books_close(counters);
  EXPECT_EQ(stub.stop(), 0);
  EXPECT_EQ(client.read(79).size(), 78U);
  expect_books_close(stub.counters_file());
}

}  // namespace
}  // namespace raftperf::stub
