// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/cluster_options.h"
#include "cluster/system_descriptor.h"
#include "record/run_record.h"
#include "run/run.h"

namespace raftperf::run {

/// A run with everything around it: a cluster, a record, a verdict.
struct SessionOptions {
  RunPlan plan;
  std::string system;    ///< Its name in the record.
  std::string protocol;  ///< Of the clients.
  std::string profile;
  std::string durability;
  std::filesystem::path plugin_dir;
  /// The stub that speaks this protocol, for the driver's floor; empty: not measured.
  std::filesystem::path stub_program;
  /// Started on this machine for this run; none: `plan.driver.nodes` is running already,
  /// or the driver needs no cluster.
  std::optional<cluster::SystemDescriptor> local;
  cluster::ClusterOptions cluster;
  std::uint64_t servers_here = 0;  ///< Nodes that share this machine with the client.
  std::optional<int> leader_wanted;
  bool verify = true;
  std::optional<std::filesystem::path> out;
  std::optional<std::filesystem::path> hdr_out;
  std::vector<record::OptionRecord> options;
};

/// What a session tells while it runs. `progress` comes from another thread.
struct SessionCallbacks {
  std::function<void(const Progress&)> progress;
  std::function<void(const std::string&)> notice;  ///< One line for a person.
};

enum class SessionFailure { kUsage, kCluster };

struct SessionError {
  SessionFailure kind;
  std::string message;
};

struct SessionResult {
  std::optional<SessionError> error;  ///< Then nothing was measured.
  record::RunRecord record;
  std::filesystem::path folder;
};

/// Checks the place for the results, brings the cluster up, runs, verifies, judges,
/// writes the record, and stops what it started, in this order. Blocks; `signals`
/// shortens it at every stage, and what was measured until then is recorded.
SessionResult run_session(const SessionOptions& options, Signals& signals,
                          const SessionCallbacks& callbacks);

}  // namespace raftperf::run
