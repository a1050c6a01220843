// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/place.h"
#include "cluster/local_cluster.h"
#include "cluster/system_descriptor.h"

namespace raftperf::cli {

/// `raftperf cluster up|status|down|transfer-leader SYSTEM`: a local cluster that
/// outlives the tool.
class ClusterCommand {
 public:
  explicit ClusterCommand(CLI::App& root);

  [[nodiscard]] bool chosen() const { return app_->parsed(); }
  int execute(const Place& place);

 private:
  int up(const Place& place, const cluster::SystemDescriptor& system);
  int status(const cluster::SystemDescriptor& system, const cluster::LocalCluster& running);
  int down(cluster::LocalCluster& running);
  int transfer(const cluster::SystemDescriptor& system, const cluster::LocalCluster& running);

  CLI::App* app_;
  CLI::App* up_;
  CLI::App* status_;
  CLI::App* down_;
  CLI::App* transfer_;
  std::string system_;
  std::string node_ = "node0";
  std::string durability_;
  int nodes_ = 3;
  std::uint16_t port_base_ = 0;
  bool json_ = false;
};

}  // namespace raftperf::cli
