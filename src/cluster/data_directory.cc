// SPDX-License-Identifier: Apache-2.0
#include "cluster/data_directory.h"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <system_error>

namespace raftperf::cluster {
namespace {

namespace fs = std::filesystem;

constexpr std::ptrdiff_t kDepthMin = 3;  // "/", and two names: /dev/shm is never removed.

Result<void> check_medium(const fs::path& directory, DataMedium medium) {
  struct statfs info {};
  if (::statfs(directory.c_str(), &info) != 0) {
    return Error{fmt::format("{}: {}", directory.string(), std::strerror(errno))};
  }
  const bool in_memory = info.f_type == TMPFS_MAGIC || info.f_type == RAMFS_MAGIC;
  if (medium == DataMedium::kTmpfs && info.f_type != TMPFS_MAGIC) {
    return Error{fmt::format("{} is not on tmpfs, which the memory class needs; mount one there",
                             directory.string())};
  }
  if (medium == DataMedium::kDisk && in_memory) {
    return Error{
        fmt::format("{} is in memory (tmpfs): nothing there is durable; choose a "
                    "directory on a disk",
                    directory.string())};
  }
  const auto block = static_cast<std::uint64_t>(info.f_bsize);
  const std::uint64_t free_bytes = info.f_bavail * block;
  const bool unlimited = info.f_blocks == 0;  // A tmpfs mounted with size=0.
  if (!unlimited && free_bytes < kFreeBytesMin) {
    return Error{fmt::format(
        "{} has {} MiB free, a cluster needs {} MiB{}", directory.parent_path().string(),
        free_bytes >> 20U, kFreeBytesMin >> 20U,
        medium == DataMedium::kTmpfs ? "; in a container give /dev/shm more (--shm-size 1g)" : "")};
  }
  return {};
}

}  // namespace

std::string_view to_string(DataMedium medium) noexcept {
  return medium == DataMedium::kTmpfs ? "tmpfs" : "disk";
}

Result<void> create_data_directory(const fs::path& directory, DataMedium medium) {
  std::error_code code;
  fs::create_directories(directory.parent_path(), code);
  if (code) {
    return Error{fmt::format("{}: {}", directory.parent_path().string(), code.message())};
  }
  // Others on this machine have no business in there, and must not have made it.
  if (::mkdir(directory.c_str(), 0700) != 0) {
    return Error{fmt::format("{}: {}", directory.string(), std::strerror(errno))};
  }
  auto fits = check_medium(directory, medium);
  if (!fits) {
    fs::remove(directory, code);
  }
  return fits;
}

Result<void> remove_tree(const fs::path& directory) {
  if (!directory.is_absolute() || std::distance(directory.begin(), directory.end()) <= kDepthMin) {
    return Error{fmt::format("{} is not a directory of ours to remove", directory.string())};
  }
  std::error_code code;
  fs::remove_all(directory, code);
  if (code) {
    return Error{fmt::format("{}: {}", directory.string(), code.message())};
  }
  return {};
}

}  // namespace raftperf::cluster
