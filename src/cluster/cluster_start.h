// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "cluster/cluster_layout.h"
#include "cluster/local_cluster.h"

namespace raftperf::cluster {

/// The steps of `LocalCluster::up`, in order; each REQUIRES those before it.
class ClusterStart {
 public:
  ClusterStart(const SystemDescriptor& system, const ClusterOptions& options, EventLog& log)
      : system_(system), options_(options), log_(log) {}

  Result<std::unique_ptr<LocalCluster>> run();

 private:
  Result<void> plan();          ///< Options, layout, executable: nothing is touched.
  Result<void> clear_kept();    ///< What an earlier cluster left in our place.
  Result<void> clear_way();     ///< No such cluster is up, no port is taken.
  Result<void> prepare();       ///< Guard, directories, state.
  Result<void> launch();        ///< Processes.
  Result<void> await_commit();  ///< A leader, and a write.
  Error describe_silence(const std::string& reason, int node) const;
  Error with_log(const std::string& reason, int node) const;
  Error port_taken(const std::string& port, int node) const;

  const SystemDescriptor& system_;
  const ClusterOptions options_;
  EventLog& log_;
  ClusterState state_;
  std::optional<ClusterLayout> layout_;
  FileDescriptor lock_;
  std::chrono::steady_clock::time_point deadline_;
  std::unique_ptr<LocalCluster> cluster_;
};

}  // namespace raftperf::cluster
