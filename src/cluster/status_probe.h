// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "cluster/node_status.h"
#include "net/endpoint.h"

namespace raftperf::cluster {

/// Asks one node for its state, and for the two things that a cluster needs besides:
/// a write, and another leader. Control traffic, never load.
///
/// One thread at a time. Every call connects where it has to, and is over within its
/// time-out; an Error that comes earlier says that nobody serves there.
class StatusProbe {
 public:
  using Timeout = std::chrono::milliseconds;

  StatusProbe() = default;
  StatusProbe(const StatusProbe&) = delete;
  StatusProbe& operator=(const StatusProbe&) = delete;
  virtual ~StatusProbe() = default;

  virtual Result<NodeStatus> status(Timeout timeout) = 0;

  /// One small write, sent to this node alone. Done means committed; an Error leaves
  /// open whether it was.
  virtual Result<void> write(Timeout timeout) = 0;

  /// Asks this node, the leader, to hand over to `node`. Done means that it has begun.
  virtual Result<void> transfer_leader(int node, Timeout timeout) = 0;
};

/// The probe for a client protocol. An unknown one is an Error that lists the known.
/// Does not connect.
Result<std::unique_ptr<StatusProbe>> make_probe(std::string_view protocol,
                                                const net::Endpoint& endpoint);

}  // namespace raftperf::cluster
