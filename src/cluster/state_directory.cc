// SPDX-License-Identifier: Apache-2.0
#include "cluster/state_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "cluster/process_identity.h"

namespace raftperf::cluster {
namespace {

namespace fs = std::filesystem;

fs::path from_environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr ? fs::path(value) : fs::path();
}

}  // namespace

Result<StateDirectory> StateDirectory::find() {
  fs::path path = from_environment("RAFTPERF_STATE_DIR");
  if (path.empty() && from_environment("XDG_STATE_HOME").is_absolute()) {
    path = from_environment("XDG_STATE_HOME") / "raftperf";
  }
  if (path.empty() && from_environment("HOME").is_absolute()) {
    path = from_environment("HOME") / ".local/state/raftperf";
  }
  if (!path.is_absolute()) {
    return Error{
        "no place to keep the state of clusters: set RAFTPERF_STATE_DIR to an absolute path, "
        "e.g. /var/tmp/raftperf"};
  }
  return StateDirectory{.path = path.lexically_normal()};
}

fs::path StateDirectory::kept(const std::string& system) const {
  return path / "clusters" / system;
}

fs::path StateDirectory::run(std::uint64_t run_token) const {
  return path / "runs" / token_text(run_token);
}

fs::path StateDirectory::data(const std::string& system, std::uint64_t run_token) const {
  return path / "data" / fmt::format("{}-{}", system, token_text(run_token));
}

Result<FileDescriptor> StateDirectory::lock(const std::string& system) const {
  const fs::path file = path / "clusters" / (system + ".lock");
  std::error_code code;
  fs::create_directories(file.parent_path(), code);
  FileDescriptor fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!fd.valid()) {
    return Error{fmt::format("{}: {}", file.string(), std::strerror(errno))};
  }
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    return Error{
        fmt::format("another raftperf is starting or stopping the cluster of {} just now", system)};
  }
  return fd;
}

}  // namespace raftperf::cluster
