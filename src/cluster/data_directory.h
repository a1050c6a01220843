// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace raftperf::cluster {

/// Where the nodes of a durability class keep their data.
enum class DataMedium : std::uint8_t {
  kTmpfs,  ///< Memory: survives a process, not the machine.
  kDisk,
};

/// "tmpfs" and "disk", as in system.toml.
std::string_view to_string(DataMedium medium) noexcept;

/// What must be free where the data go, for a cluster to start.
inline constexpr std::uint64_t kFreeBytesMin = 512ULL << 20U;

/// Creates a directory that does not exist yet (its parents may), and checks that it is
/// on the right kind of file system and that there is room. On an error nothing is left.
Result<void> create_data_directory(const std::filesystem::path& directory, DataMedium medium);

/// Removes a directory with all that is in it, without following links. Done if it is
/// not there. Refuses a path that is not absolute or is close to the root.
Result<void> remove_tree(const std::filesystem::path& directory);

}  // namespace raftperf::cluster
