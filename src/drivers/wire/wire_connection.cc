// SPDX-License-Identifier: Apache-2.0
#include "drivers/wire/wire_connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace raftperf::drivers {
namespace {

constexpr std::size_t kBufferSize = 256 * 1024;

}  // namespace

WireConnection::WireConnection(std::size_t frame_max)
    : out_(std::max(kBufferSize, 4 * frame_max)), in_(kBufferSize) {}

void WireConnection::open(FileDescriptor fd) noexcept {
  fd_ = std::move(fd);
  state_ = State::kConnecting;
  sent_ = filled_ = parsed_ = received_ = 0;
}

void WireConnection::greet() noexcept {
  std::byte* frame = reserve(wire::kHeaderSize + 12);
  const std::size_t body = wire::put(frame + wire::kHeaderSize, wire::HelloRequest{});
  wire::put_request_header(frame, wire::Kind::kHello, 0, static_cast<std::uint32_t>(body));
  state_ = State::kGreeting;
}

void WireConnection::close() noexcept {
  fd_.reset();
  state_ = State::kClosed;
}

std::byte* WireConnection::reserve(std::size_t size) noexcept {
  if (filled_ + size > out_.size()) {
    std::copy(out_.begin() + static_cast<std::ptrdiff_t>(sent_),
              out_.begin() + static_cast<std::ptrdiff_t>(filled_), out_.begin());
    filled_ -= sent_;
    sent_ = 0;
    if (filled_ + size > out_.size()) {
      return nullptr;
    }
  }
  std::byte* at = out_.data() + filled_;
  filled_ += size;
  return at;
}

WireConnection::Io WireConnection::flush() noexcept {
  const ssize_t sent =
      ::send(fd_.get(), out_.data() + sent_, filled_ - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) {
    return errno == EAGAIN || errno == EINTR ? Io::kWouldBlock : Io::kLost;
  }
  sent_ += static_cast<std::size_t>(sent);
  if (sent_ < filled_) {
    return Io::kWouldBlock;
  }
  sent_ = filled_ = 0;
  return Io::kDone;
}

WireConnection::Io WireConnection::receive(bool& more) noexcept {
  if (parsed_ > 0) {
    std::copy(in_.begin() + static_cast<std::ptrdiff_t>(parsed_),
              in_.begin() + static_cast<std::ptrdiff_t>(received_), in_.begin());
    received_ -= parsed_;
    parsed_ = 0;
  }
  const std::size_t room = in_.size() - received_;
  const ssize_t got = ::recv(fd_.get(), in_.data() + received_, room, MSG_DONTWAIT);
  more = got == static_cast<ssize_t>(room);
  if (got > 0) {
    received_ += static_cast<std::size_t>(got);
    return Io::kDone;
  }
  return got < 0 && (errno == EAGAIN || errno == EINTR) ? Io::kWouldBlock : Io::kLost;
}

}  // namespace raftperf::drivers
