// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "cluster/status_probe.h"
#include "wire/cpp/client.h"

namespace raftperf::cluster {

/// The probe for servers of the wire protocol (wire/SPEC.md).
class WireProbe final : public StatusProbe {
 public:
  explicit WireProbe(net::Endpoint endpoint) : endpoint_(std::move(endpoint)) {}

  Result<NodeStatus> status(Timeout timeout) override;
  Result<void> write(Timeout timeout) override;
  Result<void> transfer_leader(int node, Timeout timeout) override;

 private:
  /// Connects if there is no open connection.
  Result<void> ensure_connected(Timeout timeout);

  net::Endpoint endpoint_;
  std::optional<wire::Client> client_;
};

}  // namespace raftperf::cluster
