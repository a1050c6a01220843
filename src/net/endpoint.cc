// SPDX-License-Identifier: Apache-2.0
#include "net/endpoint.h"

#include <fmt/format.h>

#include <charconv>

namespace raftperf::net {
namespace {

constexpr std::size_t kHostLengthMax = 253;  // RFC 1035, section 2.3.4, without the final dot

Error malformed(std::string_view text, std::string_view why) {
  return Error{fmt::format("endpoint '{}': {}; example: 127.0.0.1:8300 or [::1]:8300", text, why)};
}

Result<Endpoint> parse_with_port_from(std::uint32_t port_min, std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return malformed(text, "no port");
  }
  std::string_view host = text.substr(0, colon);
  const std::string_view port_text = text.substr(colon + 1);
  if (!host.empty() && host.front() == '[') {
    if (host.size() < 3 || host.back() != ']') {
      return malformed(text, "brackets do not match");
    }
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return malformed(text, "an IPv6 address needs brackets");
  }
  if (host.empty()) {
    return malformed(text, "no host");
  }
  if (host.size() > kHostLengthMax || host.find_first_of(" \t\r\n[]/") != std::string_view::npos) {
    return malformed(text, "not a host name");
  }
  std::uint32_t port = 0;
  const auto [end, code] =
      std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
  if (code != std::errc{} || end != port_text.data() + port_text.size() || port < port_min ||
      port > 65535) {
    return malformed(text, fmt::format("the port is a number from {} to 65535", port_min));
  }
  return Endpoint{.host = std::string(host), .port = static_cast<std::uint16_t>(port)};
}

}  // namespace

Result<Endpoint> parse_endpoint(std::string_view text) { return parse_with_port_from(1, text); }

Result<Endpoint> parse_listen_endpoint(std::string_view text) {
  return parse_with_port_from(0, text);
}

Result<std::vector<Endpoint>> parse_endpoints(std::string_view text) {
  std::vector<Endpoint> endpoints;
  while (true) {
    const std::size_t comma = text.find(',');
    auto endpoint = parse_endpoint(text.substr(0, comma));
    if (!endpoint) {
      return Error{endpoint.error()};
    }
    endpoints.push_back(*std::move(endpoint));
    if (comma == std::string_view::npos) {
      return endpoints;
    }
    text.remove_prefix(comma + 1);
  }
}

std::string to_string(const Endpoint& endpoint) {
  const bool literal_v6 = endpoint.host.find(':') != std::string::npos;
  return literal_v6 ? fmt::format("[{}]:{}", endpoint.host, endpoint.port)
                    : fmt::format("{}:{}", endpoint.host, endpoint.port);
}

}  // namespace raftperf::net
