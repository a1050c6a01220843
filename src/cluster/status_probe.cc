// SPDX-License-Identifier: Apache-2.0
#include "cluster/status_probe.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/nearest.h"
#include "cluster/wire_probe.h"

namespace raftperf::cluster {

std::string_view to_string(NodeStatus::Role role) noexcept {
  switch (role) {
    case NodeStatus::Role::kFollower:
      return "follower";
    case NodeStatus::Role::kCandidate:
      return "candidate";
    case NodeStatus::Role::kLeader:
      return "leader";
    case NodeStatus::Role::kUnavailable:
      return "unavailable";
  }
  return "?";
}

Result<std::unique_ptr<StatusProbe>> make_probe(std::string_view protocol,
                                                const net::Endpoint& endpoint) {
  if (protocol == "wire") {
    return std::unique_ptr<StatusProbe>(std::make_unique<WireProbe>(endpoint));
  }
  return Error{
      fmt::format("no way is known to ask a node of protocol '{}' for its state; "
                  "allowed: wire{}",
                  protocol, did_you_mean(protocol, std::vector<std::string>{"wire"}))};
}

}  // namespace raftperf::cluster
