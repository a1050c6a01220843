// SPDX-License-Identifier: Apache-2.0
#include "stub/raw_client.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "net/socket.h"

namespace raftperf::stub {
namespace {

constexpr int kWaitMaxMs = 30'000;

bool wait_for(int fd, short events) {
  pollfd waiting{.fd = fd, .events = events, .revents = 0};
  const bool ready = ::poll(&waiting, 1, kWaitMaxMs) == 1;
  EXPECT_TRUE(ready) << "the stub did nothing for " << kWaitMaxMs << " ms";
  return ready;
}

}  // namespace

Bytes request(wire::Kind kind, std::uint64_t id, std::span<const std::byte> body) {
  Bytes frame(wire::kHeaderSize + body.size());
  wire::put_request_header(frame.data(), kind, id, static_cast<std::uint32_t>(body.size()));
  std::copy(body.begin(), body.end(), frame.begin() + wire::kHeaderSize);
  return frame;
}

Bytes hello_request() {
  std::array<std::byte, wire::kHelloRequestSize> body;
  wire::put(body.data(), wire::HelloRequest{});
  return request(wire::Kind::kHello, 0, body);
}

Bytes append_requests(std::uint64_t first, std::uint64_t count) {
  Bytes all;
  for (std::uint64_t id = first; id < first + count; ++id) {
    all = std::move(all) + request(wire::Kind::kAppend, id, std::array{std::byte{1}});
  }
  return all;
}

Bytes operator+(Bytes left, const Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

RawClient::RawClient(const net::Endpoint& endpoint) {
  auto socket = net::connect_to(endpoint, std::chrono::milliseconds(kWaitMaxMs));
  EXPECT_TRUE(socket.ok()) << socket.error();
  socket_ = std::move(socket).value();
}

void RawClient::send(std::span<const std::byte> bytes) {
  while (!bytes.empty() && wait_for(socket_.get(), POLLOUT)) {
    const std::size_t sent = send_some(bytes);
    if (sent == 0) {
      return;
    }
    bytes = bytes.subspan(sent);
  }
}

std::size_t RawClient::send_some(std::span<const std::byte> bytes) {
  const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  return static_cast<std::size_t>(std::max<ssize_t>(0, count));
}

std::vector<OwnedReply> RawClient::read(std::size_t count) {
  std::vector<OwnedReply> replies;
  while (replies.size() < count) {
    auto reply = next();
    if (!reply) {
      break;
    }
    replies.push_back(*std::move(reply));
  }
  return replies;
}

bool RawClient::ends() {
  const auto reply = next();
  return !reply;
}

std::optional<OwnedReply> RawClient::next() {
  while (true) {
    const wire::Parsed parsed = wire::parse_frame(std::span(received_).subspan(read_));
    EXPECT_NE(parsed.result, wire::ParseResult::kMalformed) << parsed.reason;
    if (parsed.result == wire::ParseResult::kFrame) {
      read_ += parsed.frame_size;
      const wire::Frame& frame = parsed.frame;
      return OwnedReply{.kind = frame.kind,
                        .status = frame.status,
                        .id = frame.correlation_id,
                        .body = Bytes(frame.body.begin(), frame.body.end()),
                        .read_at = std::chrono::steady_clock::now()};
    }
    received_.erase(received_.begin(), received_.begin() + static_cast<std::ptrdiff_t>(read_));
    read_ = 0;
    std::array<std::byte, 65'536> room;
    const ssize_t count =
        wait_for(socket_.get(), POLLIN) ? ::recv(socket_.get(), room.data(), room.size(), 0) : 0;
    if (count <= 0) {
      return std::nullopt;
    }
    received_.insert(received_.end(), room.begin(), room.begin() + count);
  }
}

}  // namespace raftperf::stub
