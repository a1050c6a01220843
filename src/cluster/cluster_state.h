// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/node_record.h"
#include "cluster/state_directory.h"

namespace raftperf::cluster {

/// What a later process needs to know of a cluster: cluster.json, and one pid file per
/// node beside it.
struct ClusterState {
  std::string system;
  std::string protocol;
  std::string durability;
  std::map<std::string, std::string> knobs;
  std::uint64_t run_token = 0;
  int nodes = 0;
  std::string started_utc;            ///< ISO 8601.
  std::filesystem::path directory;    ///< Of cluster.json, pid files and logs.
  std::filesystem::path data_root;    ///< Above the nodes' data directories.
  std::map<int, NodeRecord> records;  ///< By node; one that never started has none.

  [[nodiscard]] std::filesystem::path pid_file(int node) const;
};

/// Whether the process of a pid file is there.
enum class Liveness : std::uint8_t {
  kRunning,
  kGone,
  kNotOurs,  ///< The pid belongs to another program now. Never to be signalled.
};

/// "running", "gone", "not ours".
std::string_view to_string(Liveness liveness) noexcept;

Liveness liveness(const ProcessIdentity& identity);

/// Writes cluster.json, not the pid files.
Result<void> write_cluster_state(const ClusterState& state);

/// The state in a directory with its pid files; nothing if there is no cluster.json.
Result<std::optional<ClusterState>> read_cluster_state(const std::filesystem::path& directory);

/// Every kept cluster of a state directory that can be read.
std::vector<ClusterState> kept_clusters(const StateDirectory& state);

}  // namespace raftperf::cluster
