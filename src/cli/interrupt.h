// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "run/worker_thread.h"

namespace raftperf::cli {

/// Turns SIGINT, SIGTERM and SIGHUP into word to a run while it lives: the first ends
/// the schedule and awaits what is outstanding, the second ends that as well. Neither
/// ends the program: the record is written and the cluster stopped in any case.
class Interrupts {
 public:
  explicit Interrupts(run::Signals& signals);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
};

}  // namespace raftperf::cli
