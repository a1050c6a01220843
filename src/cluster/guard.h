// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "cluster/process_identity.h"

namespace raftperf::cluster {

/// The guard process's main function: reads what to watch from `read_fd` until its end,
/// which comes when the tool dies, by whatever cause. Then stops every group still
/// alive (SIGTERM, two seconds, SIGKILL), removes the directories, and returns the exit
/// status. Told to quit it does nothing of that. Detaches from the terminal and closes
/// every other descriptor, so it must have the process to itself.
int guard_main(int read_fd);

/// The tool's end of its guard: a process in a session of its own that outlives a
/// SIGKILL of the tool just long enough to clean up behind it.
///
/// What is told counts from the moment the call returns, even if the tool is killed in
/// the next instruction. One thread at a time. Destruction without `release` is, to the
/// guard, the death of the tool.
class Guard {
 public:
  /// Starts the guard. With `arguments` (an argument vector whose program calls
  /// `guard_main(0)`) it is executed, the pipe being its standard input; without, it is
  /// forked from this process and keeps a copy of its memory.
  static Result<Guard> start(const std::vector<std::string>& arguments = {});

  Guard(Guard&&) = default;
  Guard& operator=(Guard&&) = delete;
  ~Guard();

  /// An error means that the guard has died and protects nothing.
  Result<void> watch(const ProcessIdentity& identity);
  /// A directory to be removed with all that is in it.
  Result<void> watch(const std::filesystem::path& directory);

  /// It was stopped, reaped or removed by us: the guard leaves it alone.
  void forget(const ProcessIdentity& identity);
  void forget(const std::filesystem::path& directory);

  /// Ends the guard without its doing anything: all is stopped, or meant to stay.
  void release();

  /// Of the guard process.
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  Guard(FileDescriptor socket, pid_t pid) : socket_(std::move(socket)), pid_(pid) {}

  Result<void> tell(const std::string& line);
  void wait_for_end();

  FileDescriptor socket_;
  pid_t pid_ = -1;
};

}  // namespace raftperf::cluster
