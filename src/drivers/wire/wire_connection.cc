// SPDX-License-Identifier: Apache-2.0
#include "drivers/wire/wire_connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace raftperf::drivers {
namespace {

// Holds the largest batch of small requests; of the largest requests a few.
constexpr std::size_t kOutputSize = 128 * 1024;

}  // namespace

WireConnection::WireConnection(std::uint32_t node, std::size_t frame_max)
    : node_(node),
      capacity_(std::max(kOutputSize, 2 * frame_max)),
      out_(std::make_unique_for_overwrite<std::byte[]>(capacity_)) {}

void WireConnection::open(FileDescriptor fd) noexcept {
  fd_ = std::move(fd);
  state_ = State::kConnecting;
  blocked_ = broken_ = false;
  sent_ = filled_ = kept_ = 0;
}

void WireConnection::greet() noexcept {
  std::byte* frame = reserve(wire::kHeaderSize + wire::kHelloRequestSize);
  wire::put_request_header(frame, wire::Kind::kHello, 0, wire::kHelloRequestSize);
  wire::put(frame + wire::kHeaderSize, wire::HelloRequest{});
  state_ = State::kGreeting;
  flush();
}

void WireConnection::close() noexcept {
  fd_.reset();
  state_ = State::kClosed;
}

void WireConnection::flush() noexcept {
  ssize_t sent = 0;
  do {
    sent = ::send(fd_.get(), out_.get() + sent_, filled_ - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0 && errno != EAGAIN) {
    broken_ = true;
  }
  sent_ += sent > 0 ? static_cast<std::size_t>(sent) : 0;
  blocked_ = broken_ || sent_ < filled_;
  if (sent_ == filled_) {
    sent_ = filled_ = 0;
  }
}

WireConnection::Received WireConnection::receive(std::span<std::byte> buffer) noexcept {
  std::memcpy(buffer.data(), rest_.data(), kept_);
  const std::size_t room = buffer.size() - kept_;
  ssize_t got = 0;
  do {
    got = ::recv(fd_.get(), buffer.data() + kept_, room, MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) {
    const bool would_block = got < 0 && errno == EAGAIN;
    return {.io = would_block ? Io::kWouldBlock : Io::kLost, .more = false, .bytes = {}};
  }
  const auto count = static_cast<std::size_t>(got);
  return {.io = Io::kDone, .more = count == room, .bytes = buffer.first(kept_ + count)};
}

void WireConnection::keep(std::span<const std::byte> rest) noexcept {
  CHECK(rest.size() <= rest_.size());
  std::memcpy(rest_.data(), rest.data(), rest.size());
  kept_ = rest.size();
}

}  // namespace raftperf::drivers
