// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/leader_view.h"
#include "cluster/status_probe.h"
#include "net/endpoint.h"

namespace raftperf::cluster {

/// Asks all nodes of a cluster, wherever they run, one after the other: for `status`,
/// `transfer-leader` and the wait for readiness. One thread; blocks.
class ClusterProbe {
 public:
  using Timeout = std::chrono::milliseconds;

  /// An unknown protocol is an Error. Does not connect.
  static Result<ClusterProbe> create(std::string_view protocol,
                                     const std::vector<net::Endpoint>& clients);

  /// One view per node; `timeout` is for each.
  std::vector<NodeView> look(Timeout timeout);

  /// Why the last look at a node found no answer.
  [[nodiscard]] const std::string& problem(int node) const;

  /// Commits one small write through the leader, with `timeout` for each request.
  Result<void> write(Timeout timeout);

  /// Moves the leader to `node`, and returns once it leads. Done at once if it does.
  Result<void> transfer_leader(int node, Timeout timeout);

 private:
  explicit ClusterProbe(std::vector<std::unique_ptr<StatusProbe>> probes)
      : probes_(std::move(probes)), problems_(probes_.size()) {}

  std::vector<std::unique_ptr<StatusProbe>> probes_;
  std::vector<std::string> problems_;
};

/// Whether an error that took this long was silence or a refusal.
NodeView::Contact contact_after_error(std::chrono::nanoseconds taken,
                                      std::chrono::milliseconds timeout);

}  // namespace raftperf::cluster
