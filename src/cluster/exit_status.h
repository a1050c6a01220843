// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace raftperf::cluster {

/// How a process ended, as far as it can be known: a process that we did not start is
/// seen to end, but not how.
struct ExitStatus {
  std::optional<int> code;           ///< By exit or by returning from main.
  std::optional<int> signal_number;  ///< By a signal.
};

/// "exited with status 3", "was killed by signal 9 (Killed)", "ended".
std::string to_string(const ExitStatus& status);

}  // namespace raftperf::cluster
