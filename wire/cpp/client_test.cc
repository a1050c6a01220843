// SPDX-License-Identifier: Apache-2.0
#include "wire/cpp/client.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <functional>
#include <thread>

#include "net/socket.h"
#include "wire/cpp/server_session.h"
#include "wire/cpp/test_vectors.h"

namespace raftperf::wire {
namespace {

using namespace std::chrono_literals;

constexpr auto kLong = 30s;  // Never waited for unless something is broken.

/// A server of one connection in a thread. `answer` gets what was received so far and
/// appends what to send; it returns false to close. Ends when the client has closed.
class OneConnection {
 public:
  using Answer = std::function<bool(Bytes& received, Bytes& out)>;

  explicit OneConnection(Answer answer)
      : listener_(*net::listen_on("127.0.0.1", 0)),
        thread_([this, answer = std::move(answer)] { serve(answer); }) {}
  ~OneConnection() { thread_.join(); }
  OneConnection(const OneConnection&) = delete;
  OneConnection& operator=(const OneConnection&) = delete;

  [[nodiscard]] net::Endpoint endpoint() const {
    return {.host = "127.0.0.1", .port = net::bound_port(listener_.get())};
  }

 private:
  void serve(const Answer& answer) {
    pollfd waiting{.fd = listener_.get(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(::poll(&waiting, 1, 30'000), 1);
    const FileDescriptor peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    Bytes received;
    while (true) {
      std::array<std::byte, 4096> room;
      const auto count = ::recv(peer.get(), room.data(), room.size(), 0);
      if (count <= 0) {
        return;
      }
      received.insert(received.end(), room.begin(), room.begin() + count);
      Bytes out;
      const bool go_on = answer(received, out);
      // One byte a call: the client must put replies together.
      for (const std::byte byte : out) {
        (void)::send(peer.get(), &byte, 1, MSG_NOSIGNAL);
      }
      if (!go_on) {
        return;
      }
    }
  }

  FileDescriptor listener_;
  std::thread thread_;
};

using Handler = std::function<void(const Frame&, Bytes& out)>;

/// An answer by the rules of the protocol, with `handler` for what follows hello.
OneConnection::Answer session(Handler handler) {
  auto state = std::make_shared<ServerSession>(HelloReply{.node = 1, .run_token = 5});
  return [state, handler = std::move(handler)](Bytes& received, Bytes& out) {
    const auto consumed =
        state->consume(received, out, [&](const Frame& frame) { handler(frame, out); });
    received.erase(received.begin(),
                   received.begin() + static_cast<std::ptrdiff_t>(consumed.bytes));
    return !consumed.close;
  };
}

void answer_each_kind(const Frame& frame, Bytes& out) {
  switch (frame.kind) {
    case Kind::kStatus:
      append_node_status(out, frame.correlation_id,
                         {.node = 1, .role = Role::kLeader, .leader = 1, .term = 3});
      break;
    case Kind::kAppend:
      append_value(out, reply_to(frame), frame.body.size());
      break;
    case Kind::kCompareAndSet:
      append_mismatch(out, reply_to(frame), get_compare_and_set(frame.body).desired + 1);
      break;
    case Kind::kGet:
      append_not_leader(out, reply_to(frame), 2);
      break;
    case Kind::kTransferLeader:
      load<std::int32_t>(frame.body.data()) == 0
          ? append_done(out, reply_to(frame))
          : append_error(out, reply_to(frame), "no such node");
      break;
    case Kind::kHello:
      FAIL();
  }
}

TEST(Client, ReadsEveryKindAndStatus) {
  OneConnection server(session(answer_each_kind));
  auto client = Client::connect(server.endpoint(), kLong);
  ASSERT_TRUE(client.ok()) << client.error();
  EXPECT_EQ(client->hello().node, 1);
  EXPECT_EQ(client->hello().run_token, 5U);

  const auto status = client->status(kLong);
  ASSERT_TRUE(status.ok()) << status.error();
  EXPECT_EQ(status->node_status.role, Role::kLeader);
  EXPECT_EQ(status->node_status.term, 3U);

  const Bytes payload(100'000);
  EXPECT_EQ(client->append(payload, kLong)->value, payload.size());

  const auto mismatch = client->compare_and_set({.key = 1, .expected = 2, .desired = 3}, kLong);
  EXPECT_EQ(mismatch->status, Status::kMismatch);
  EXPECT_EQ(mismatch->value, 4U);

  const auto redirect = client->get(9, kLong);
  EXPECT_EQ(redirect->status, Status::kNotLeader);
  EXPECT_EQ(redirect->hint, 2);

  EXPECT_EQ(client->transfer_leader(0, kLong)->status, Status::kOk);
  const auto refused = client->transfer_leader(7, kLong);
  EXPECT_EQ(refused->status, Status::kError);
  EXPECT_EQ(refused->error_text, "no such node");
}

TEST(Client, CanBeMoved) {
  OneConnection server(session(answer_each_kind));
  auto connected = Client::connect(server.endpoint(), kLong);
  ASSERT_TRUE(connected.ok()) << connected.error();
  Client moved = *std::move(connected);
  EXPECT_TRUE(moved.status(kLong).ok());
}

TEST(Client, ATimeOutIsAnErrorAndClosesTheClient) {
  OneConnection server(session([](const Frame&, Bytes&) {}));
  auto client = Client::connect(server.endpoint(), kLong);
  ASSERT_TRUE(client.ok()) << client.error();
  const auto status = client->status(20ms);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().find("no answer in time"), std::string::npos);
  EXPECT_FALSE(client->is_open());
  EXPECT_FALSE(client->status(kLong).ok());
}

TEST(Client, HelloIsBoundedByTheTimeOutToo) {
  OneConnection silent([](Bytes&, Bytes&) { return true; });
  const auto client = Client::connect(silent.endpoint(), 20ms);
  ASSERT_FALSE(client.ok());
  EXPECT_NE(client.error().find("no answer in time"), std::string::npos);
}

TEST(Client, AClosedConnectionIsAnError) {
  OneConnection server([](Bytes&, Bytes&) { return false; });
  const auto client = Client::connect(server.endpoint(), kLong);
  ASSERT_FALSE(client.ok());
}

TEST(Client, ARefusedVersionIsToldWithTheServersText) {
  OneConnection server([](Bytes&, Bytes& out) {
    append_error(out, {.kind = Kind::kHello, .correlation_id = 1}, "no common version");
    return false;
  });
  const auto client = Client::connect(server.endpoint(), kLong);
  ASSERT_FALSE(client.ok());
  EXPECT_NE(client.error().find("no common version"), std::string::npos);
}

TEST(Client, ForeignAndMalformedRepliesAreErrors) {
  const std::vector<Handler> servers{
      [](const Frame& f, Bytes& out) {  // another id
        append_value(out, {f.kind, f.correlation_id + 1}, 1);
      },
      [](const Frame& f, Bytes& out) {  // another kind
        append_busy(out, {Kind::kStatus, f.correlation_id});
      },
      [](const Frame& f, Bytes& out) {  // a request
        out.resize(kHeaderSize);
        put_request_header(out.data(), Kind::kStatus, f.correlation_id, 0);
      },
      [](const Frame&, Bytes& out) { out.assign(64, std::byte{0xFF}); },
  };
  for (const Handler& handler : servers) {
    OneConnection server(session(handler));
    auto client = Client::connect(server.endpoint(), kLong);
    ASSERT_TRUE(client.ok()) << client.error();
    EXPECT_FALSE(client->get(1, kLong).ok());
    EXPECT_FALSE(client->is_open());
  }
}

TEST(Client, NobodyListeningIsAnErrorThatNamesTheEndpoint) {
  // Bound but not listening: the port is taken and yet refuses connections.
  const FileDescriptor bound(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto address = net::resolve({.host = "127.0.0.1", .port = 0}).value().front();
  ASSERT_EQ(
      ::bind(bound.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.length), 0);
  const std::uint16_t port = net::bound_port(bound.get());
  const auto client = Client::connect({.host = "127.0.0.1", .port = port}, kLong);
  ASSERT_FALSE(client.ok());
  EXPECT_NE(client.error().find("127.0.0.1:" + std::to_string(port)), std::string::npos);
}

}  // namespace
}  // namespace raftperf::wire
