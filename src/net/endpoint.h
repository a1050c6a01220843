// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace raftperf::net {

/// Where a node listens: a host name or a literal address, and a port.
struct Endpoint {
  std::string host;  ///< Without the brackets of an IPv6 literal.
  std::uint16_t port = 0;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

/// Reads `host:port`, `1.2.3.4:port` or `[::1]:port`. A bare IPv6 literal without
/// brackets is refused, since its port could not be told apart.
Result<Endpoint> parse_endpoint(std::string_view text);

/// The same for an address to listen on, where port 0 means "pick a free one".
Result<Endpoint> parse_listen_endpoint(std::string_view text);

/// Reads a comma-separated list of endpoints; at least one.
Result<std::vector<Endpoint>> parse_endpoints(std::string_view text);

/// `host:port`, with brackets where the host is an IPv6 literal.
std::string to_string(const Endpoint& endpoint);

}  // namespace raftperf::net
