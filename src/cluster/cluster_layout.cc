// SPDX-License-Identifier: Apache-2.0
#include "cluster/cluster_layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace raftperf::cluster {
namespace {

constexpr const char* kLoopback = "127.0.0.1";
constexpr int kPortMax = 65535;

}  // namespace

Result<ClusterLayout> ClusterLayout::on_loopback(const SystemDescriptor& system, int nodes,
                                                 std::optional<std::uint16_t> port_base) {
  CHECK(nodes > 0 && !system.ports.empty());
  const auto lowest =
      std::min_element(system.ports.begin(), system.ports.end(), [](const auto& a, const auto& b) {
        return a.second < b.second;
      })->second;
  ClusterLayout layout;
  layout.nodes_ = nodes;
  std::map<int, std::string> taken;
  for (const auto& [name, base] : system.ports) {
    for (int node = 0; node < nodes; ++node) {
      const int port = base + node + (port_base ? *port_base - lowest : 0);
      if (port < 1 || port > kPortMax) {
        return Error{
            fmt::format("port {} for '{}' of node {} is out of range; choose a lower "
                        "port base",
                        port, name, node)};
      }
      const auto [other, is_new] = taken.emplace(port, name);
      if (!is_new) {
        return Error{
            fmt::format("{}: with {} nodes, ports '{}' and '{}' meet at {}; set them "
                        "further apart",
                        system.name, nodes, other->second, name, port)};
      }
      layout.ports_[name].push_back(
          net::Endpoint{.host = kLoopback, .port = static_cast<std::uint16_t>(port)});
    }
  }
  return layout;
}

std::vector<std::string> ClusterLayout::port_names() const {
  std::vector<std::string> names;
  for (const auto& [name, endpoints] : ports_) {
    names.push_back(name);
  }
  return names;
}

const net::Endpoint& ClusterLayout::endpoint(const std::string& port, int node) const {
  return ports_.at(port).at(static_cast<std::size_t>(node));
}

std::string ClusterLayout::list(const std::string& port) const {
  std::string text;
  for (const net::Endpoint& endpoint : ports_.at(port)) {
    text += (text.empty() ? "" : ",") + net::to_string(endpoint);
  }
  return text;
}

}  // namespace raftperf::cluster
