// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cluster/cluster_probe.h"
#include "record/run_record.h"

namespace raftperf::run {

/// Compares what a cluster acknowledged during a run with what it applied, by the
/// operation count and the checksum that its nodes report.
class Verification {
 public:
  /// Notes the cluster's count before the run. Blocks for at most a second a node.
  static Verification begin(std::string_view protocol, const std::vector<net::Endpoint>& nodes);

  struct Verdict {
    std::uint64_t missing = 0;
    bool replicas_differ = false;
  };

  /// After the run, once nothing is outstanding: waits up to a few seconds for the
  /// cluster to come to rest, then fills `record` from its counts of acknowledged and
  /// unknown. Other clients' writes in the meantime make it fail or say nothing.
  Verdict finish(record::VerificationRecord& record);

 private:
  std::optional<cluster::ClusterProbe> probe_;
  std::optional<std::uint64_t> applied_before_;
  std::string problem_;
};

}  // namespace raftperf::run
