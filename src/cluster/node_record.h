// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/process_identity.h"

namespace raftperf::cluster {

/// The pid file of a node: which process it is, where it listens, where it logs.
struct NodeRecord {
  int node = 0;
  ProcessIdentity identity;
  std::map<std::string, std::string> endpoints;  ///< Port name -> host:port.
  std::filesystem::path log;
  std::filesystem::path data_directory;
  std::vector<std::string> command;                ///< What it was started with.
  std::map<std::string, std::string> environment;  ///< Added to the environment of the tool.
};

/// Writes the file as a whole or not at all: a reader, also after a crash, sees the old
/// content or the new.
Result<void> write_file_atomically(const std::filesystem::path& file, const std::string& content);

/// JSON {pid, start_time, run_token, node, endpoints, log, data_directory, command,
/// environment}; run_token as a decimal text, since JSON numbers lose digits beyond 2^53
/// in many readers.
Result<void> write_node_record(const std::filesystem::path& file, const NodeRecord& record);

/// An error names the file and what is wrong with it.
Result<NodeRecord> read_node_record(const std::filesystem::path& file);

}  // namespace raftperf::cluster
