// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace raftperf::cluster {

/// What the end of a cluster did.
struct DownReport {
  struct Node {
    int node = -1;
    pid_t pid = -1;
    std::string outcome;  ///< "stopped", "killed: ...", "already gone", "not ours: left alone".
  };

  std::vector<Node> nodes;
  std::vector<std::filesystem::path> removed;
  std::vector<std::string> problems;  ///< Empty if all is gone.
};

}  // namespace raftperf::cluster
