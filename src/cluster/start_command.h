// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/cluster_layout.h"
#include "cluster/system_descriptor.h"

namespace raftperf::cluster {

/// Everything the placeholders of a start command stand for, but for the node.
struct StartContext {
  const SystemDescriptor& system;
  const ClusterLayout& layout;
  std::filesystem::path executable;
  std::filesystem::path build;
  std::string durability;                    ///< A class of the system.
  std::map<std::string, std::string> knobs;  ///< Resolved: every knob with its value.
  std::uint64_t run_token = 0;               ///< Written as a decimal number.
};

/// How one node is started.
struct StartCommand {
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;
};

/// The command, then the arguments of the durability class, then every knob.
Result<StartCommand> start_command(const StartContext& context, int node,
                                   const std::filesystem::path& data_directory);

/// All knobs of the system, with the chosen values in place of the defaults. An unknown
/// knob, or a value of another kind than the default's, is an error.
Result<std::map<std::string, std::string>> resolve_knobs(
    const SystemDescriptor& system, const std::map<std::string, std::string>& chosen);

/// The durability class to use: `chosen`, or the system's default if that is "".
Result<std::string> resolve_durability(const SystemDescriptor& system, const std::string& chosen);

}  // namespace raftperf::cluster
