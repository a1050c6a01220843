// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/system_descriptor.h"

namespace raftperf::cluster {

/// The systems of a source tree: every folder of `<root>/systems` with a system.toml.
struct SystemCatalogue {
  std::vector<SystemDescriptor> systems;  ///< In alphabetical order.
  std::vector<Error> broken;              ///< One for each file that cannot be used.

  /// An error if the folder itself cannot be read.
  static Result<SystemCatalogue> scan(const std::filesystem::path& root);
};

/// Loads one system by name; an unknown one is named with the nearest that is known.
Result<SystemDescriptor> find_system(const std::filesystem::path& root, std::string_view name);

/// Whether a system can be started here.
struct Availability {
  bool built = false;
  std::filesystem::path executable;  ///< Absolute; where it is, or was looked for.
  std::string remedy;                ///< One line: how to get and build it; "" if built.
};

/// Looks for the executable: `{build}` and `{system}` are replaced; a relative path is
/// meant from the system's folder; a bare name is looked for in `build` and then in PATH.
Availability find_executable(const SystemDescriptor& system, const std::filesystem::path& build);

}  // namespace raftperf::cluster
