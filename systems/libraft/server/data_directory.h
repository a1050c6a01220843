// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace raftperf::libraft {

/// One node's data directory: made if missing, locked against a second process, and
/// tied to the node that first used it. libraft itself checks none of these, and two
/// processes in one directory would vote twice.
///
/// The lock is the kernel's and ends with the process, however it ends.
class DataDirectory {
 public:
  /// Opens and locks the directory. An error names it and says what to do.
  static Result<DataDirectory> open(const std::string& path, std::uint16_t node);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Whether a Raft node has ever written here.
  [[nodiscard]] bool has_raft_data() const;

  /// `memory` on tmpfs or ramfs, else `fsync`: libraft writes through to the device.
  [[nodiscard]] const char* durability() const noexcept { return in_memory_ ? "memory" : "fsync"; }

 private:
  DataDirectory(std::string path, FileDescriptor lock, bool in_memory) noexcept;

  std::string path_;
  FileDescriptor lock_;
  bool in_memory_ = false;
};

}  // namespace raftperf::libraft
