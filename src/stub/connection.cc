// SPDX-License-Identifier: Apache-2.0
#include "stub/connection.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace raftperf::stub {
namespace {

constexpr std::size_t kSentMax = 1U << 20U;  // Sent bytes kept in front of unsent ones.

}  // namespace

Connection::Sent Connection::flush(Counters& counters) noexcept {
  while (sent_ < out_.size()) {
    ++counters.send_calls;
    const ssize_t count = ::send(fd(), out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL);
    if (count >= 0) {
      sent_ += static_cast<std::size_t>(count);
      counters.bytes_sent += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      if (sent_ > kSentMax) {
        out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(sent_));
        sent_ = 0;
      }
      return Sent::kBlocked;
    } else if (errno != EINTR) {
      return Sent::kBroken;
    }
  }
  out_.clear();
  sent_ = 0;
  return Sent::kAll;
}

std::string Connection::peer() const {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (::getpeername(fd(), generic, &length) != 0 ||
      ::getnameinfo(generic, length, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "?";
  }
  return fmt::format("{} port {}", host.data(), port.data());
}

}  // namespace raftperf::stub
