// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/system_descriptor.h"
#include "net/endpoint.h"

namespace raftperf::cluster {

/// Which node listens where: for each port name one endpoint per node, node 0 first.
class ClusterLayout {
 public:
  /// All nodes on 127.0.0.1, so that node i's port is the base port + i. `port_base`
  /// moves the lowest base port there, and the others with it. An error if two ports
  /// would fall together or leave the range.
  static Result<ClusterLayout> on_loopback(const SystemDescriptor& system, int nodes,
                                           std::optional<std::uint16_t> port_base);

  [[nodiscard]] int nodes() const noexcept { return nodes_; }
  [[nodiscard]] std::vector<std::string> port_names() const;
  /// REQUIRES: a name of `port_names` and a node of this layout.
  [[nodiscard]] const net::Endpoint& endpoint(const std::string& port, int node) const;
  /// Where clients connect.
  [[nodiscard]] const std::vector<net::Endpoint>& clients() const { return ports_.at("client"); }
  /// `host:port,host:port,...` of all nodes.
  [[nodiscard]] std::string list(const std::string& port) const;

 private:
  int nodes_ = 0;
  std::map<std::string, std::vector<net::Endpoint>> ports_;
};

}  // namespace raftperf::cluster
