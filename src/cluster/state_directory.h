// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace raftperf::cluster {

/// Where raftperf keeps what outlives a process: logs and pid files of clusters.
///
///   clusters/<system>/   a cluster of `raftperf cluster up`, with cluster.json
///   runs/<token>/        a cluster that ends with the run that started it
///   data/<system>-<token>/node<i>/   data of the classes that are on disk
struct StateDirectory {
  std::filesystem::path path;

  /// $RAFTPERF_STATE_DIR, else $XDG_STATE_HOME/raftperf, else ~/.local/state/raftperf.
  static Result<StateDirectory> find();

  [[nodiscard]] std::filesystem::path kept(const std::string& system) const;
  [[nodiscard]] std::filesystem::path run(std::uint64_t run_token) const;
  [[nodiscard]] std::filesystem::path data(const std::string& system,
                                           std::uint64_t run_token) const;

  /// Holds the right to start or stop the kept cluster of a system, until the
  /// descriptor is closed. An error if somebody else holds it.
  [[nodiscard]] Result<FileDescriptor> lock(const std::string& system) const;
};

}  // namespace raftperf::cluster
