// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "cluster/process_identity.h"

namespace raftperf::cluster {

/// How the processes of a group came to their end.
enum class StopOutcome : std::uint8_t {
  kAlreadyGone,  ///< Nothing was alive when we came.
  kTerminated,   ///< SIGTERM was enough.
  kKilled,       ///< SIGTERM was not obeyed in time; SIGKILL was.
  kStillAlive,   ///< Not even SIGKILL helped in time (a process stuck in the kernel).
};

/// "already gone", "stopped", ...
std::string_view to_string(StopOutcome outcome) noexcept;

/// A process that leads its own group, and all that it started within that group.
///
/// Signals go through a pidfd, so they can never reach another program that was given
/// the pid since. Owns the pidfd, not the process. Thread-safe after `open`: every
/// method is a system call on immutable data.
class ProcessGroup {
 public:
  /// Takes hold of the group led by `identity.pid`. An error says why that process is
  /// not, or no longer, the one that is meant. Does not ask for the run token, which a
  /// child has in its environment only after exec.
  static Result<ProcessGroup> open(const ProcessIdentity& identity);

  /// A group whose leader has gone, but may have left processes behind. They are found
  /// by group and run token.
  static ProcessGroup leaderless(const ProcessIdentity& identity) {
    return ProcessGroup(identity, FileDescriptor());
  }

  [[nodiscard]] const ProcessIdentity& identity() const noexcept { return identity_; }

  /// Becomes readable when the leading process ends. -1 if it is leaderless.
  [[nodiscard]] int pidfd() const noexcept { return pidfd_.get(); }

  /// Whether the leading process has ended (reaped or not). Never blocks.
  [[nodiscard]] bool leader_ended() const;

  /// Sends a signal to every process of the group. False if nothing was there.
  bool signal(int number) const;

 private:
  ProcessGroup(const ProcessIdentity& identity, FileDescriptor pidfd)
      : identity_(identity), pidfd_(std::move(pidfd)) {}

  ProcessIdentity identity_;
  FileDescriptor pidfd_;
};

/// The pids alive in any of the groups. A group whose leader has been reaped counts only
/// processes that carry its run token. Reads all of /proc: milliseconds.
std::vector<pid_t> living_members(std::span<const ProcessGroup* const> groups);

/// Waits until nothing is alive in any of the groups; false if the time is over first.
bool wait_until_gone(std::span<const ProcessGroup* const> groups,
                     std::chrono::milliseconds timeout);

/// Stops all groups at the same time: SIGTERM (and SIGCONT, since a stopped process
/// would not hear it), at most `grace`, then SIGKILL. One outcome per group, in order.
std::vector<StopOutcome> stop_groups(std::span<const ProcessGroup* const> groups,
                                     std::chrono::milliseconds grace);

}  // namespace raftperf::cluster
