// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "cluster/cluster_layout.h"
#include "cluster/cluster_options.h"
#include "cluster/cluster_state.h"
#include "cluster/down_report.h"
#include "cluster/event_log.h"
#include "cluster/exit_watcher.h"
#include "cluster/guard.h"
#include "cluster/process.h"
#include "cluster/system_descriptor.h"
#include "net/endpoint.h"

namespace raftperf::cluster {

/// A cluster of server processes on this machine.
///
/// A cluster for this process is stopped by `down`, by the destructor, or by its guard
/// if we are killed. One that is kept lives until `down`. Processes are only ever
/// signalled by identity, as groups. Every public method is thread-safe.
class LocalCluster {
 public:
  /// Starts the nodes and returns once they are ready: every node has printed its ready
  /// line with our run token, one leads, and a write was committed by these processes.
  /// On an error nothing of it is left. The error's first line is the reason; the last
  /// lines of a node's log may follow on lines of their own. The log must outlive the
  /// cluster. Blocks up to the ready time-out plus the stop's grace.
  static Result<std::unique_ptr<LocalCluster>> up(const SystemDescriptor& system,
                                                  const ClusterOptions& options, EventLog& log);

  /// Takes hold of a cluster that an earlier process kept. An error if there is none.
  /// Destruction lets go of it again.
  static Result<std::unique_ptr<LocalCluster>> attach(const std::string& system,
                                                      const StateDirectory& state, EventLog& log);

  LocalCluster(const LocalCluster&) = delete;
  LocalCluster& operator=(const LocalCluster&) = delete;
  ~LocalCluster();

  /// Stops every node and removes pid files, data, and logs that nobody asked to keep.
  /// A second call finds nothing to do.
  DownReport down();

  /// Not while `start_node` runs.
  [[nodiscard]] const ClusterState& state() const noexcept { return state_; }
  [[nodiscard]] int nodes() const noexcept { return state_.nodes; }
  [[nodiscard]] std::uint64_t run_token() const noexcept { return state_.run_token; }
  [[nodiscard]] std::vector<net::Endpoint> clients() const;
  [[nodiscard]] std::optional<Liveness> liveness(int node) const;
  [[nodiscard]] pid_t pid(int node) const;  ///< -1 if it was never started.

  /// CPU time that the node's processes have used since they started, user and system,
  /// exact to the kernel's nanosecond. Nothing if none is alive. Reads all of /proc.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> cpu_time(int node) const;

  // Faults. Each is noted as a planned event; what follows from it (a silent node, a
  // new leader) is planned under an EventLog::PlannedScope of the caller.
  Result<void> stop_node(int node);      ///< SIGSTOP.
  Result<void> continue_node(int node);  ///< SIGCONT.
  Result<void> kill_node(int node);      ///< SIGKILL; returns once it is gone.
  /// Starts a node that has ended again, on its data; returns with its ready line.
  Result<void> start_node(int node);

 private:
  friend class ClusterStart;

  struct Node {
    std::optional<Process> process;
    bool exit_expected = false;  ///< By a fault or a stop of ours.
    bool exit_noted = false;
    std::uint64_t log_offset = 0;  ///< Where the log of this process begins.
  };

  LocalCluster(ClusterState state, const ClusterOptions& options, EventLog& log);

  DownReport finish();  ///< `down` without the lock of the kept cluster.
  // The following REQUIRE mutex_ held.
  Result<void> launch(int node);
  Result<void> await_ready_line(const std::vector<int>& nodes,
                                std::chrono::steady_clock::time_point deadline) const;
  Result<void> check_running() const;
  Result<void> check_alive(int node, std::string_view verb) const;
  Result<void> signal_fault(int node, int number, EventCode code, std::string_view verb);
  [[nodiscard]] std::string log_of(int node) const;
  void note_exit(int node);
  void stop_all(DownReport& report);
  void note_stop(int node, StopOutcome outcome, DownReport& report);
  void remove_traces(DownReport& report);

  EventLog& log_;
  ClusterOptions options_;
  FileDescriptor lock_;  ///< Of the kept cluster, while it is being started.
  std::optional<Guard> guard_;

  mutable std::mutex mutex_;
  ClusterState state_;       // Its records: GUARDED_BY mutex_
  std::vector<Node> nodes_;  // GUARDED_BY mutex_
  bool is_down_ = false;     // GUARDED_BY mutex_
  std::optional<ExitWatcher> watcher_;
};

}  // namespace raftperf::cluster
