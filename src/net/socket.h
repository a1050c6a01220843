// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "net/endpoint.h"

namespace raftperf::net {

/// One resolved socket address, ready for `connect` or `bind`.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

/// Every address of the endpoint's host, in the resolver's order. Blocks on DNS.
Result<std::vector<SocketAddress>> resolve(const Endpoint& endpoint);

/// Starts a non-blocking TCP connection with TCP_NODELAY set. The descriptor is
/// connected, or becomes writable once it is decided (`connect_error`).
Result<FileDescriptor> start_connect(const SocketAddress& address);

/// What became of a started connection: 0 if connected, else an errno value.
int connect_error(int fd) noexcept;

/// Connects to the first address of the endpoint that answers, within `timeout`
/// for all of them together. The descriptor is non-blocking and has TCP_NODELAY set.
Result<FileDescriptor> connect_to(const Endpoint& endpoint, std::chrono::milliseconds timeout);

/// Listens on the endpoint; port 0 picks a free one. The descriptor is
/// non-blocking. A taken port is an error that names it.
Result<FileDescriptor> listen_on(const std::string& host, std::uint16_t port);

/// Whether the endpoint's host is an address of this machine. False where it cannot be
/// resolved.
bool is_this_machine(const Endpoint& endpoint);

/// The port a listening descriptor is bound to.
std::uint16_t bound_port(int fd) noexcept;

/// Sets TCP_NODELAY. Small frames would otherwise wait up to 40 ms for a delayed ACK.
void set_no_delay(int fd) noexcept;

}  // namespace raftperf::net
