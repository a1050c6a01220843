// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace raftperf::cli {

/// What the tool's exit status means; README.md has the same table.
enum ExitStatus : int {
  kDone = 0,           ///< Rig not INVALID and load carried, or a planned fault.
  kInvalid = 1,        ///< The rig's judgement, or a check that did not pass.
  kUsage = 2,          ///< A mistake in the options; nothing was started.
  kNoCluster = 3,      ///< The cluster could not be brought up or reached.
  kOverloaded = 4,     ///< A result: the load was not carried.
  kInterrupted = 130,  ///< By a signal; what was measured is in the record.
};

}  // namespace raftperf::cli
