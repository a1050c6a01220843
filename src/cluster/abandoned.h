// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "cluster/process_identity.h"
#include "cluster/state_directory.h"

namespace raftperf::cluster {

/// Notes in a directory, whose name ends with the run token, that this process made it.
Result<void> claim_directory(const std::filesystem::path& directory);

/// Removes the directories directly below `parent` that were claimed by a process which
/// has ended, and whose run has neither a living process nor a kept cluster: what is
/// left where tool and guard were killed together. Returns what it removed.
std::vector<std::filesystem::path> remove_abandoned(const std::filesystem::path& parent,
                                                    const StateDirectory& state);

}  // namespace raftperf::cluster
