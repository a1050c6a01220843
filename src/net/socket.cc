// SPDX-License-Identifier: Apache-2.0
#include "net/socket.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

namespace raftperf::net {
namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Result<AddressList> look_up(const std::string& host, std::uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (code != 0) {
    const char* why = code == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(code);
    return Error{fmt::format("{}: {}", host, why)};
  }
  return AddressList(found, &::freeaddrinfo);
}

}  // namespace

void set_no_delay(int fd) noexcept {
  const int on = 1;
  (void)::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Result<std::vector<SocketAddress>> resolve(const Endpoint& endpoint) {
  auto list = look_up(endpoint.host, endpoint.port, 0);
  if (!list) {
    return Error{list.error()};
  }
  std::vector<SocketAddress> addresses;
  for (const addrinfo* entry = list->get(); entry != nullptr; entry = entry->ai_next) {
    SocketAddress address;
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    address.length = entry->ai_addrlen;
    addresses.push_back(address);
  }
  return addresses;
}

Result<FileDescriptor> start_connect(const SocketAddress& address) {
  FileDescriptor fd(
      ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) {
    return Error{fmt::format("socket: {}{}", std::strerror(errno),
                             errno == EMFILE ? "; see ulimit -n" : "")};
  }
  set_no_delay(fd.get());
  const auto* generic = reinterpret_cast<const sockaddr*>(&address.storage);
  if (::connect(fd.get(), generic, address.length) != 0 && errno != EINPROGRESS) {
    return Error{fmt::format("connect: {}", std::strerror(errno))};
  }
  return fd;
}

int connect_error(int fd) noexcept {
  int code = 0;
  socklen_t length = sizeof code;
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &length) != 0) {
    return errno;
  }
  return code;
}

Result<FileDescriptor> connect_to(const Endpoint& endpoint, std::chrono::milliseconds timeout) {
  auto addresses = resolve(endpoint);
  if (!addresses) {
    return Error{addresses.error()};
  }
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::string last_error = "no address";
  for (const SocketAddress& address : *addresses) {
    auto fd = start_connect(address);
    if (!fd) {
      last_error = fd.error();
      continue;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd waiting{.fd = fd->get(), .events = POLLOUT, .revents = 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::max<long>(0, left.count())));
    if (ready <= 0) {
      last_error = fmt::format("no answer within {} ms", timeout.count());
      continue;
    }
    if (const int code = connect_error(fd->get()); code != 0) {
      last_error = std::strerror(code);
      continue;
    }
    return fd;
  }
  return Error{fmt::format("{}: {}", to_string(endpoint), last_error)};
}

Result<FileDescriptor> listen_on(const std::string& host, std::uint16_t port) {
  auto list = look_up(host, port, AI_PASSIVE);
  if (!list) {
    return Error{list.error()};
  }
  const addrinfo* entry = list->get();
  FileDescriptor fd(::socket(entry->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  // Without it a restart within a minute of a stop finds its port in TIME_WAIT. A
  // port that somebody listens on is still refused.
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd.get(), entry->ai_addr, entry->ai_addrlen) != 0 || ::listen(fd.get(), 1024) != 0) {
    return Error{fmt::format("{}: {}", to_string(Endpoint{host, port}), std::strerror(errno))};
  }
  return fd;
}

bool is_this_machine(const Endpoint& endpoint) {
  const auto addresses = resolve(endpoint);
  if (!addresses) {
    return false;
  }
  for (SocketAddress address : *addresses) {
    // Only an address of one's own can be bound; port 0 is always free.
    if (address.storage.ss_family == AF_INET6) {
      reinterpret_cast<sockaddr_in6*>(&address.storage)->sin6_port = 0;
    } else {
      reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port = 0;
    }
    const FileDescriptor fd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.length) ==
        0) {
      return true;
    }
  }
  return false;
}

std::uint16_t bound_port(int fd) noexcept {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &length) != 0) {
    return 0;
  }
  if (storage.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
}

}  // namespace raftperf::net
