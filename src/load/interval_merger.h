// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "load/latency_recorder.h"

namespace raftperf::load {

/// Joins the workers' intervals into one per second and passes them on in order, each
/// once every worker has delivered its share. Histograms are added; percentiles never.
class IntervalMerger {
 public:
  /// `emit` is called with each joined interval, from within `collect`.
  using Emit = std::function<void(const Interval&)>;
  IntervalMerger(std::vector<LatencyRecorder*> recorders, Emit emit);

  /// Takes what the workers have handed over so far.
  void collect();

 private:
  struct Pending {
    std::unique_ptr<Interval> joined;
    IntervalExchange* owner = nullptr;  ///< Gets it back, or its worker would have to allocate.
  };

  std::vector<LatencyRecorder*> recorders_;
  Emit emit_;
  std::vector<std::int64_t> complete_below_;
  std::map<std::int64_t, Pending> pending_;
};

}  // namespace raftperf::load
