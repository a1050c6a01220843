// SPDX-License-Identifier: Apache-2.0
//
// The program as a whole: start, ready line, end, and what a peer may do to it. What
// its faults do is in program_faults_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "stub/arrival_log.h"
#include "stub/raw_client.h"
#include "stub/stub_process.h"
#include "wire/cpp/client.h"
#include "wire/cpp/test_vectors.h"

namespace raftperf::stub {
namespace {

using namespace std::chrono_literals;

constexpr auto kLong = 30s;  // Never waited for unless something is broken.

StubProcess start(const std::vector<std::string>& arguments = {}) {
  auto stub = StubProcess::start(arguments);
  EXPECT_TRUE(stub.ok()) << stub.error();
  return std::move(stub).value();
}

std::uint64_t monotonic_ns() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

TEST(Program, PrintsOneReadyLine) {
  const StubProcess stub = start({"--node", "3", "--run-token", "18446744073709551615"});
  EXPECT_EQ(stub.ready().at("event"), "ready");
  EXPECT_EQ(stub.ready().at("system"), "stub");
  EXPECT_EQ(stub.ready().at("node"), 3);
  EXPECT_EQ(stub.ready().at("pid"), stub.pid());
  EXPECT_EQ(stub.ready().at("run_token"), ~std::uint64_t{0});
  EXPECT_EQ(stub.endpoint().host, "127.0.0.1");
  auto client = wire::Client::connect(stub.endpoint(), kLong);
  ASSERT_TRUE(client.ok()) << client.error();
  EXPECT_EQ(client->hello().node, 3);
  EXPECT_EQ(client->hello().run_token, ~std::uint64_t{0});
}

TEST(Program, SpeaksTheWholeProtocol) {
  StubProcess stub = start();
  auto connected = wire::Client::connect(stub.endpoint(), kLong);
  ASSERT_TRUE(connected.ok()) << connected.error();
  wire::Client& client = *connected;
  const Bytes payload(1'000'000, std::byte{9});
  EXPECT_EQ(client.append(payload, kLong)->value, 1U);
  const wire::CompareAndSet write{.key = 1, .expected = 0, .desired = 5};
  EXPECT_EQ(client.compare_and_set(write, kLong)->value, 5U);
  EXPECT_EQ(client.compare_and_set(write, kLong)->status, wire::Status::kMismatch);
  EXPECT_EQ(client.get(1, kLong)->value, 5U);
  const auto status = client.status(kLong);
  EXPECT_EQ(status->node_status.operation_count, 3U);
  EXPECT_EQ(status->node_status.checksum,
            wire::mix_append(payload) + 2 * wire::mix_compare_and_set(write, 5));
  EXPECT_EQ(client.transfer_leader(1, kLong)->status, wire::Status::kOk);
  EXPECT_EQ(client.append(payload, kLong)->hint, 1);
  EXPECT_EQ(client.transfer_leader(0, kLong)->status, wire::Status::kOk);
  EXPECT_EQ(client.append(payload, kLong)->status, wire::Status::kOk);
  EXPECT_EQ(stub.stop(), 0);
  const auto counters = stub.counters_file();
  EXPECT_EQ(counters.at("received"), 6);
  EXPECT_EQ(counters.at("applied"), 4);
  EXPECT_EQ(counters.at("hellos"), 1);
  EXPECT_EQ(counters.at("status_requests"), 1);
  EXPECT_EQ(counters.at("transfers"), 2);
  EXPECT_EQ(counters.at("frames_received"), 10);
  EXPECT_EQ(counters.at("frames_sent"), 10);
}

TEST(Program, RefusesATakenPortInOneLine) {
  const StubProcess first = start();
  const std::string address = net::to_string(first.endpoint());
  const auto second = StubProcess::start({"--listen", address});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().find("exit 1: raftperf-stub: "), 0U) << second.error();
  EXPECT_NE(second.error().find(address), std::string::npos) << second.error();
  EXPECT_EQ(std::count(second.error().begin(), second.error().end(), '\n'), 1);
}

TEST(Program, AMistakeInTheOptionsIsExitTwo) {
  const auto stub = StubProcess::start({"--delay", "1k5"});
  ASSERT_FALSE(stub.ok());
  EXPECT_EQ(stub.error().find("exit 2: raftperf-stub: --delay '1k5'"), 0U) << stub.error();
}

TEST(Program, LogsThatCannotBeWrittenAreToldBeforeItListens) {
  for (const char* option : {"--arrival-log", "--counters-file"}) {
    for (const char* path : {"/dev/full", "/nonexistent/file"}) {
      const auto stub = StubProcess::start({option, path});
      ASSERT_FALSE(stub.ok());
      EXPECT_EQ(stub.error().find("exit 1: raftperf-stub: /"), 0U) << stub.error();
      EXPECT_NE(stub.error().find(path), std::string::npos) << stub.error();
    }
  }
}

TEST(Program, SigtermAndSigintEndItWithExitZero) {
  for (const int signal : {SIGTERM, SIGINT}) {
    StubProcess stub = start();
    RawClient client(stub.endpoint());
    client.send(hello_request());
    EXPECT_EQ(client.read(1).size(), 1U);
    stub.send_signal(signal);
    EXPECT_EQ(stub.wait(), 0);
    EXPECT_TRUE(client.ends());
    EXPECT_EQ(stub.counters_file().at("connections_closed"), 1);
  }
}

TEST(Program, AMalformedFrameClosesItsConnectionOnly) {
  StubProcess stub = start();
  auto bystander = wire::Client::connect(stub.endpoint(), kLong);
  ASSERT_TRUE(bystander.ok()) << bystander.error();
  std::uint64_t malformed = 0;
  std::string reasons;
  for (const wire::TestVector& vector : wire::read_vectors("malformed.txt")) {
    if (vector.text("receiver") != "server") {
      continue;
    }
    SCOPED_TRACE(vector.text("name"));
    RawClient client(stub.endpoint());
    client.send(vector.bytes("hex"));
    EXPECT_EQ(client.read(2).size(), vector.number("frames")) << "only hello is answered";
    EXPECT_TRUE(bystander->status(kLong).ok());
    ++malformed;
    const std::string log = stub.standard_error();
    EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), static_cast<std::ptrdiff_t>(malformed));
    EXPECT_NE(log.find("malformed: " + vector.text("reason")), std::string::npos) << log;
  }
  EXPECT_GT(malformed, 20U);
  EXPECT_EQ(stub.counters().at("connections_malformed"), malformed);
  EXPECT_EQ(stub.stop(), 0);
}

TEST(Program, AnUnknownVersionIsAnsweredAndClosed) {
  StubProcess stub = start();
  std::array<std::byte, wire::kHelloRequestSize> body;
  wire::put(body.data(), wire::HelloRequest{.version_min = 2, .version_max = 3});
  RawClient client(stub.endpoint());
  client.send(request(wire::Kind::kHello, 1, body) + append_requests(1, 5));
  const auto replies = client.read(2);
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_EQ(replies[0].status, wire::Status::kError);
  const auto counters = stub.counters();
  EXPECT_EQ(counters.at("received"), 0);
  EXPECT_EQ(counters.at("connections_malformed"), 0);
  EXPECT_EQ(counters.at("connections_closed"), 1);
}

TEST(Program, FramesMayComeByteByByte) {
  StubProcess stub = start();
  RawClient client(stub.endpoint());
  for (const std::byte byte : hello_request() + append_requests(1, 10)) {
    client.send(std::array{byte});
  }
  const auto replies = client.read(11);
  ASSERT_EQ(replies.size(), 11U);
  EXPECT_EQ(replies.back().id, 10U);
}

TEST(Program, ManyRepliesShareASend) {
  StubProcess stub = start();
  RawClient client(stub.endpoint());
  client.send(hello_request());
  EXPECT_EQ(client.read(1).size(), 1U);
  // One send of ours is one segment on loopback, and so about one receive of the stub.
  client.send(append_requests(1, 1'000));
  EXPECT_EQ(client.read(1'000).size(), 1'000U);
  EXPECT_LE(stub.counters().at("send_calls"), 100);
}

TEST(Program, ArrivalsAreLoggedInOrderWithinTheTestsOwnTime) {
  StubProcess stub = start({"--drop-every", "3"});
  RawClient client(stub.endpoint());
  const std::uint64_t before = monotonic_ns();
  client.send(hello_request() + append_requests(100, 50) + request(wire::Kind::kStatus, 5));
  EXPECT_EQ(client.read(36).size(), 36U);
  const std::uint64_t after = monotonic_ns();
  EXPECT_EQ(stub.counters().at("received"), 50);
  EXPECT_EQ(read_arrival_log(stub.arrival_log())->size(), 50U) << "SIGUSR1 writes it too";
  client.send(append_requests(150, 30));
  EXPECT_EQ(client.read(20).size(), 20U);
  EXPECT_EQ(stub.stop(), 0);
  const auto arrivals = read_arrival_log(stub.arrival_log());
  ASSERT_TRUE(arrivals.ok()) << arrivals.error();
  EXPECT_EQ(arrivals->size(), stub.counters_file().at("received").get<std::size_t>());
  for (std::size_t i = 0; i < arrivals->size(); ++i) {
    EXPECT_EQ((*arrivals)[i].correlation_id, 100 + i);
    EXPECT_GE((*arrivals)[i].ns, i == 0 ? before : (*arrivals)[i - 1].ns);
  }
  EXPECT_LE(arrivals->at(49).ns, after);
}

TEST(Program, AClientThatDoesNotReadIsNotReadEither) {
  StubProcess stub = start();
  RawClient slow(stub.endpoint());
  Bytes pending = hello_request();
  constexpr std::size_t kRequests = 400'000;  // 32 MB of replies, above every bound on the way.
  for (std::uint64_t id = 1; id <= kRequests; ++id) {
    const std::size_t at = pending.size();
    pending.resize(at + wire::kHeaderSize);
    wire::put_request_header(pending.data() + at, wire::Kind::kStatus, id, 0);
  }
  std::span<const std::byte> rest = pending;
  rest = rest.subspan(slow.send_some(rest));
  auto other = wire::Client::connect(stub.endpoint(), kLong);
  ASSERT_TRUE(other.ok()) << other.error();
  // Until neither of them moves any more, or all is sent: the other one is served.
  for (int i = 0; i < 2'000 && !rest.empty(); ++i) {
    rest = rest.subspan(slow.send_some(rest));
    ASSERT_TRUE(other->status(kLong).ok());
  }
  std::size_t replies = 0;
  while (!rest.empty()) {
    replies += slow.read(1'000).size();
    rest = rest.subspan(slow.send_some(rest));
  }
  replies += slow.read(kRequests + 1 - replies).size();
  EXPECT_EQ(replies, kRequests + 1);
}

TEST(Program, ConnectionsComeAndGo) {
  StubProcess stub = start({"--delay", "1ms"});
  for (int i = 0; i < 300; ++i) {
    RawClient client(stub.endpoint());
    client.send(hello_request() + append_requests(1, 3));
    if (i % 2 == 0) {
      EXPECT_EQ(client.read(4).size(), 4U);
    } else {
      EXPECT_EQ(client.read(1).size(), 1U);
    }
  }
  // One more whole exchange, so that every close before it has been seen.
  auto last = wire::Client::connect(stub.endpoint(), kLong);
  ASSERT_TRUE(last.ok()) << last.error();
  ASSERT_TRUE(last->append(std::array{std::byte{1}}, kLong).ok());
  EXPECT_EQ(stub.stop(), 0);
  const auto counters = stub.counters_file();
  EXPECT_EQ(counters.at("connections_accepted"), 301);
  EXPECT_EQ(counters.at("connections_closed"), 301);
  EXPECT_EQ(counters.at("received").get<std::uint64_t>(),
            counters.at("answered").at("ok").get<std::uint64_t>() +
                counters.at("answers_lost").get<std::uint64_t>());
}

}  // namespace
}  // namespace raftperf::stub
