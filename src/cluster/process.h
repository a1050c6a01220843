// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/exit_status.h"
#include "cluster/process_group.h"
#include "cluster/process_identity.h"

namespace raftperf::cluster {

/// What to start.
struct ProcessOptions {
  std::vector<std::string> arguments;              ///< [0] is the executable's path. No shell.
  std::map<std::string, std::string> environment;  ///< Added to our own.
  std::filesystem::path working_directory;
  std::filesystem::path log;  ///< Receives stdout and stderr, at its end.
  std::uint64_t run_token = 0;
  /// Called with the identity of the new process before its program runs, so that a
  /// guard knows it first. An error there ends the process and is the result of `start`.
  std::function<Result<void>(const ProcessIdentity&)> before_exec;
};

/// A process that we started, or that an earlier run of this tool started and left.
///
/// It leads a session and a process group of its own, so that neither Ctrl-C nor a
/// closed terminal reaches it, and has no descriptor of ours beyond its log.
/// Destruction leaves the process alone. Move-only; one owner at a time may call
/// `reap`, everything else is thread-safe.
class Process {
 public:
  /// Returns once the program runs, or with the reason why it does not (no such file,
  /// not executable). If this process dies in between, the new one ends by itself.
  static Result<Process> start(const ProcessOptions& options);

  /// Takes hold of a process that is no child of ours.
  static Result<Process> adopt(const ProcessIdentity& identity);

  [[nodiscard]] const ProcessGroup& group() const noexcept { return group_; }
  [[nodiscard]] const ProcessIdentity& identity() const noexcept { return group_.identity(); }
  [[nodiscard]] bool ended() const { return group_.leader_ended(); }

  /// How it ended; nothing while it runs. Does not reap, so the pid stays taken.
  [[nodiscard]] std::optional<ExitStatus> exit_status() const;

  /// Gives the pid of an ended child back to the kernel. Only after the whole group is
  /// gone: until then the zombie keeps the group's number ours.
  void reap() noexcept;

 private:
  enum class Origin : std::uint8_t { kStarted, kAdopted };

  Process(ProcessGroup group, Origin origin) : group_(std::move(group)), origin_(origin) {}

  ProcessGroup group_;
  Origin origin_;
};

}  // namespace raftperf::cluster
