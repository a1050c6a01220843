// SPDX-License-Identifier: Apache-2.0
#include "wire/cpp/client.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "net/socket.h"

namespace raftperf::wire {
namespace {

constexpr std::size_t kReceiveSize = 4096;

std::string_view as_text(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Reply to_reply(const Frame& frame) {
  Reply reply{.status = frame.status, .error_text = {}, .node_status = {}};
  switch (frame.status) {
    case Status::kOk:
      if (frame.kind == Kind::kStatus) {
        reply.node_status = get_node_status(frame.body);
      } else if (frame.kind != Kind::kTransferLeader) {
        reply.value = load<std::uint64_t>(frame.body.data());
      }
      break;
    case Status::kMismatch:
      reply.value = load<std::uint64_t>(frame.body.data());
      break;
    case Status::kNotLeader:
      reply.hint = load<std::int32_t>(frame.body.data());
      break;
    case Status::kBusy:
      break;
    case Status::kError:
      reply.error_text = as_text(frame.body);
      break;
  }
  return reply;
}

}  // namespace

Result<Client> Client::connect(const net::Endpoint& endpoint, Timeout timeout) {
  const TimePoint deadline = std::chrono::steady_clock::now() + timeout;
  auto socket = net::connect_to(endpoint, timeout);
  if (!socket) {
    return Error{socket.error()};
  }
  Client client(*std::move(socket), net::to_string(endpoint));
  if (auto greeted = client.say_hello(deadline); !greeted) {
    return Error{greeted.error()};
  }
  return client;
}

Result<void> Client::say_hello(TimePoint deadline) {
  std::array<std::byte, kHelloRequestSize> body;
  put(body.data(), HelloRequest{});
  const auto reply = exchange(Kind::kHello, body, deadline);
  if (!reply) {
    return Error{reply.error()};
  }
  if (reply->status != Status::kOk) {
    const auto text = reply->status == Status::kError ? as_text(reply->body) : std::string_view{};
    return give_up(fmt::format("hello was answered {}: {}", to_string(reply->status), text));
  }
  hello_ = get_hello_reply(reply->body);
  if (hello_.version != kVersion) {
    return give_up(
        fmt::format("the server chose version {}, offered was {}", hello_.version, kVersion));
  }
  return {};
}

Result<Reply> Client::status(Timeout timeout) { return call(Kind::kStatus, {}, timeout); }

Result<Reply> Client::append(std::span<const std::byte> payload, Timeout timeout) {
  CHECK(!payload.empty() && payload.size() <= kBodyLengthMax);
  return call(Kind::kAppend, payload, timeout);
}

Result<Reply> Client::compare_and_set(const CompareAndSet& request, Timeout timeout) {
  std::array<std::byte, kCompareAndSetSize> body;
  put(body.data(), request);
  return call(Kind::kCompareAndSet, body, timeout);
}

Result<Reply> Client::get(std::uint64_t key, Timeout timeout) {
  std::array<std::byte, sizeof key> body;
  store(body.data(), key);
  return call(Kind::kGet, body, timeout);
}

Result<Reply> Client::transfer_leader(std::int32_t node, Timeout timeout) {
  std::array<std::byte, sizeof node> body;
  store(body.data(), node);
  return call(Kind::kTransferLeader, body, timeout);
}

Result<Reply> Client::call(Kind kind, std::span<const std::byte> body, Timeout timeout) {
  const auto frame = exchange(kind, body, std::chrono::steady_clock::now() + timeout);
  if (!frame) {
    return Error{frame.error()};
  }
  return to_reply(*frame);
}

Result<Frame> Client::exchange(Kind kind, std::span<const std::byte> body, TimePoint deadline) {
  if (!is_open()) {
    return Error{fmt::format("{}: the connection has been closed", peer_)};
  }
  if (auto sent = send_request(kind, body, deadline); !sent) {
    return Error{sent.error()};
  }
  return receive_reply(kind, deadline);
}

Result<void> Client::send_request(Kind kind, std::span<const std::byte> body, TimePoint deadline) {
  request_.resize(kHeaderSize);
  put_request_header(request_.data(), kind, ++last_id_, static_cast<std::uint32_t>(body.size()));
  request_.insert(request_.end(), body.begin(), body.end());
  std::size_t sent = 0;
  while (sent < request_.size()) {
    const auto count =
        ::send(socket_.get(), request_.data() + sent, request_.size() - sent, MSG_NOSIGNAL);
    if (count >= 0) {
      sent += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      if (auto ready = wait_for(POLLOUT, deadline); !ready) {
        return ready;
      }
    } else if (errno != EINTR) {
      return give_up(std::strerror(errno));
    }
  }
  return {};
}

Result<Frame> Client::receive_reply(Kind kind, TimePoint deadline) {
  received_.clear();
  while (true) {
    const Parsed parsed = parse_frame(received_);
    if (parsed.result == ParseResult::kMalformed) {
      return give_up(fmt::format("malformed reply: {}", parsed.reason));
    }
    if (parsed.result == ParseResult::kFrame) {
      const Frame& frame = parsed.frame;
      const bool fits = frame.is_reply && frame.kind == kind && frame.correlation_id == last_id_ &&
                        parsed.frame_size == received_.size();
      return fits ? Result<Frame>(frame) : give_up("a reply to something that was not asked");
    }
    if (auto ready = wait_for(POLLIN, deadline); !ready) {
      return Error{ready.error()};
    }
    const std::size_t before = received_.size();
    received_.resize(before + kReceiveSize);
    const auto count = ::recv(socket_.get(), received_.data() + before, kReceiveSize, 0);
    const int code = errno;
    received_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(0, count)));
    if (count == 0) {
      return give_up("the server closed the connection");
    }
    if (count < 0 && code != EAGAIN && code != EINTR) {
      return give_up(std::strerror(code));
    }
  }
}

Result<void> Client::wait_for(short events, TimePoint deadline) {
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      return give_up("no answer in time");
    }
    constexpr std::chrono::milliseconds kLongest{60'000};  // poll takes an int of milliseconds.
    pollfd waiting{.fd = socket_.get(), .events = events, .revents = 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::min(left, kLongest).count()));
    if (ready > 0) {
      return {};
    }
    if (ready < 0 && errno != EINTR) {
      return give_up(std::strerror(errno));
    }
  }
}

Error Client::give_up(std::string_view why) {
  socket_.reset();
  return Error{fmt::format("{}: {}", peer_, why)};
}

}  // namespace raftperf::wire
