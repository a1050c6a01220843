// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace raftperf::cluster {

/// The environment variable by which every process of a cluster carries its run token.
inline constexpr const char* kRunTokenVariable = "RAFTPERF_RUN_TOKEN";

/// Which process is meant, beyond its pid, which the kernel hands out again.
struct ProcessIdentity {
  pid_t pid = -1;                ///< Also its process group and session.
  std::uint64_t start_time = 0;  ///< In clock ticks since boot: field 22 of /proc/PID/stat.
  std::uint64_t run_token = 0;   ///< Of the run that started it; tells boots apart.

  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

/// One line of /proc/PID/stat, as far as we need it.
struct ProcessStat {
  char state = '?';  ///< 'Z' and 'X' are dead, though the pid is still taken.
  pid_t group = -1;
  std::uint64_t start_time = 0;

  [[nodiscard]] bool alive() const noexcept { return state != 'Z' && state != 'X'; }
};

/// Nothing if there is no such process.
std::optional<ProcessStat> read_process_stat(pid_t pid);

/// The run token in the environment of a process, as it was when it was executed.
/// Nothing if there is none, or if it is not ours to read.
std::optional<std::uint64_t> read_run_token(pid_t pid);

/// The arguments of a process joined by blanks, for a message; "" if it has gone.
std::string read_command(pid_t pid);

/// Whether the process that `identity` means still runs. False for a zombie, and for
/// another program that was given the pid since.
bool is_running(const ProcessIdentity& identity);

/// Every numeric name in /proc.
std::vector<pid_t> all_pids();

/// A run token as it stands in directory names: 16 hexadecimal digits.
std::string token_text(std::uint64_t run_token);

/// Not 0, which on the wire means "none".
std::uint64_t new_run_token();

}  // namespace raftperf::cluster
