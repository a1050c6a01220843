// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "base/result.h"
#include "cluster/event_log.h"
#include "cluster/leader_view.h"
#include "cluster/status_probe.h"
#include "net/endpoint.h"

namespace raftperf::cluster {

/// Watches a cluster while it is measured: asks every node for its state ten times a
/// second, and notes in the event log what changes.
///
/// One thread per node, so that a node that does not answer delays nobody else's news.
/// Every public method is thread-safe.
class Monitor {
 public:
  struct Options {
    std::chrono::milliseconds interval{100};
    std::chrono::milliseconds timeout{500};  ///< After which a node counts as silent.
  };

  /// Starts watching. The log must outlive the monitor. Unknown protocol: an Error.
  static Result<std::unique_ptr<Monitor>> start(std::string_view protocol,
                                                const std::vector<net::Endpoint>& clients,
                                                EventLog& log, const Options& options);

  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;
  /// Returns within the time-out of one request.
  ~Monitor();

  /// One atomic read. Terms are kept to 48 bits.
  [[nodiscard]] LeaderView current_leader() const noexcept;

  /// Changes of leader since the first one was seen; leaving and coming back are two.
  [[nodiscard]] std::uint64_t leader_changes() const noexcept { return changes_.load(); }

  /// The latest of every node.
  [[nodiscard]] std::vector<NodeView> nodes() const;

  /// The leader, as soon as there is one; nothing if the time is over first.
  [[nodiscard]] std::optional<LeaderView> wait_for_leader(std::chrono::milliseconds timeout) const;

 private:
  Monitor(std::vector<std::unique_ptr<StatusProbe>> probes, EventLog& log, const Options& options);

  void watch_node(std::size_t node);
  NodeView ask(std::size_t node, std::string& problem);
  void note(std::size_t node, const NodeView& fresh, const std::string& problem);
  /// REQUIRES: mutex_ held.
  void publish(const LeaderView& view);

  const Options options_;
  EventLog& log_;
  std::vector<std::unique_ptr<StatusProbe>> probes_;  // Each used by its own thread only.
  std::atomic<std::uint64_t> packed_leader_{0};
  std::atomic<std::uint64_t> changes_{0};

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool stopping_ = false;                  // GUARDED_BY mutex_
  std::vector<NodeView> views_;            // GUARDED_BY mutex_
  LeaderView published_;                   // GUARDED_BY mutex_
  std::optional<LeaderView> last_leader_;  // GUARDED_BY mutex_; the latest that was one.
  std::vector<std::thread> threads_;
};

}  // namespace raftperf::cluster
