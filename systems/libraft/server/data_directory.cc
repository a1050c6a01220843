// SPDX-License-Identifier: Apache-2.0
#include "systems/libraft/server/data_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

namespace raftperf::libraft {
namespace {

// No name that libraft takes for one of its own files.
constexpr const char* kLockName = "raftperf-node";

Result<void> claim(int fd, const std::string& path, std::uint16_t node) {
  std::array<char, 64> text{};
  const ssize_t length = ::pread(fd, text.data(), text.size() - 1, 0);
  if (length < 0) {
    return Error{fmt::format("{}: {}", path, std::strerror(errno))};
  }
  const std::string mine = fmt::format("node {}\n", node);
  if (length == 0) {
    if (::pwrite(fd, mine.data(), mine.size(), 0) != static_cast<ssize_t>(mine.size())) {
      return Error{fmt::format("{}: {}", path, std::strerror(errno))};
    }
    return {};
  }
  std::string_view found(text.data(), static_cast<std::size_t>(length));
  if (found == mine) {
    return {};
  }
  found = found.substr(0, found.find('\n'));
  return Error{fmt::format("--dir: {} belongs to {}, not to node {}", path, found, node)};
}

}  // namespace

DataDirectory::DataDirectory(std::string path, FileDescriptor lock, bool in_memory) noexcept
    : path_(std::move(path)), lock_(std::move(lock)), in_memory_(in_memory) {}

Result<DataDirectory> DataDirectory::open(const std::string& path, std::uint16_t node) {
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (code) {
    return Error{fmt::format("--dir: {}: {}", path, code.message())};
  }
  const std::string lock_path = path + "/" + kLockName;
  FileDescriptor lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!lock.valid()) {
    return Error{fmt::format("--dir: {}: {}", lock_path, std::strerror(errno))};
  }
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    return Error{errno == EWOULDBLOCK
                     ? fmt::format("--dir: {} is in use by another process", path)
                     : fmt::format("--dir: {}: {}", lock_path, std::strerror(errno))};
  }
  auto claimed = claim(lock.get(), path, node);
  if (!claimed) {
    return Error{claimed.error()};
  }
  struct statfs file_system {};
  if (::statfs(path.c_str(), &file_system) != 0) {
    return Error{fmt::format("--dir: {}: {}", path, std::strerror(errno))};
  }
  const bool in_memory = file_system.f_type == TMPFS_MAGIC || file_system.f_type == RAMFS_MAGIC;
  return DataDirectory(path, std::move(lock), in_memory);
}

bool DataDirectory::has_raft_data() const {
  return std::filesystem::exists(path_ + "/metadata1") ||
         std::filesystem::exists(path_ + "/metadata2");
}

}  // namespace raftperf::libraft
