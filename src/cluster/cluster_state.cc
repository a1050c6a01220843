// SPDX-License-Identifier: Apache-2.0
#include "cluster/cluster_state.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

namespace raftperf::cluster {
namespace {

namespace fs = std::filesystem;

}  // namespace

fs::path ClusterState::pid_file(int node) const {
  return directory / fmt::format("node{}.json", node);
}

std::string_view to_string(Liveness liveness) noexcept {
  switch (liveness) {
    case Liveness::kRunning:
      return "running";
    case Liveness::kGone:
      return "gone";
    case Liveness::kNotOurs:
      return "not ours";
  }
  return "?";
}

Liveness liveness(const ProcessIdentity& identity) {
  if (is_running(identity)) {
    return Liveness::kRunning;
  }
  const auto stat = read_process_stat(identity.pid);
  const bool another = stat && stat->alive();
  return another ? Liveness::kNotOurs : Liveness::kGone;
}

Result<void> write_cluster_state(const ClusterState& state) {
  const nlohmann::ordered_json json{{"system", state.system},
                                    {"protocol", state.protocol},
                                    {"durability", state.durability},
                                    {"knobs", state.knobs},
                                    {"run_token", std::to_string(state.run_token)},
                                    {"nodes", state.nodes},
                                    {"started_utc", state.started_utc},
                                    {"data_root", state.data_root.string()}};
  return write_file_atomically(state.directory / "cluster.json", json.dump(2) + "\n");
}

Result<std::optional<ClusterState>> read_cluster_state(const fs::path& directory) {
  const fs::path file = directory / "cluster.json";
  std::ifstream input(file);
  if (!input) {
    return std::optional<ClusterState>();
  }
  std::ostringstream content;
  content << input.rdbuf();
  ClusterState state;
  try {
    const auto json = nlohmann::json::parse(content.str());
    state.system = json.at("system").get<std::string>();
    state.protocol = json.at("protocol").get<std::string>();
    state.durability = json.at("durability").get<std::string>();
    state.knobs = json.at("knobs").get<std::map<std::string, std::string>>();
    state.run_token = std::stoull(json.at("run_token").get<std::string>());
    state.nodes = json.at("nodes").get<int>();
    state.started_utc = json.at("started_utc").get<std::string>();
    state.data_root = json.at("data_root").get<std::string>();
  } catch (const std::exception& error) {
    return Error{fmt::format("{}: is not a cluster's state: {}", file.string(), error.what())};
  }
  state.directory = directory;
  for (int node = 0; node < state.nodes; ++node) {
    std::error_code code;
    if (!fs::exists(state.pid_file(node), code)) {
      continue;
    }
    auto record = read_node_record(state.pid_file(node));
    if (!record) {
      return Error{record.error()};
    }
    state.records.emplace(node, *std::move(record));
  }
  return std::optional<ClusterState>(std::move(state));
}

std::vector<ClusterState> kept_clusters(const StateDirectory& state) {
  std::vector<ClusterState> clusters;
  std::error_code code;
  for (fs::directory_iterator entry(state.path / "clusters", code), end; !code && entry != end;
       entry.increment(code)) {
    auto read = read_cluster_state(entry->path());
    if (read && *read) {
      clusters.push_back(**std::move(read));
    }
  }
  return clusters;
}

}  // namespace raftperf::cluster
