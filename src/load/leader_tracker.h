// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "load/operation.h"
#include "load/time.h"

namespace raftperf::load {

/// The rig's policy on where to send: which node is believed to lead, when to ask
/// another one, when to connect again. Drivers only report what they are told.
///
/// While no leader is known one waiting operation at a time is sent to the next node
/// (a probe); its answer, a hint, or word from outside (`told`) ends the search.
class LeaderTracker {
 public:
  LeaderTracker(std::uint32_t nodes, int leader);

  /// The node that everything goes to, or kNoNode.
  [[nodiscard]] int leader() const noexcept { return leader_; }

  /// `node` answered as only a leader can.
  void answered(std::uint32_t node, TimePoint now) noexcept {
    if (leader_ == static_cast<int>(node)) [[likely]] {
      answered_at_ = now;
      redirects_in_a_row_ = 0;
      probe_backoff_ = kProbeBackoffMin;
    } else if (leader_ == kNoNode) {
      adopt(static_cast<int>(node), now);
      answered(node, now);
    }
  }
  /// An answer came after its operation was given up: the leader is slow, not gone.
  void answered_late(TimePoint now) noexcept { answered_at_ = now; }
  void rejected(std::uint32_t node, int hint, TimePoint now) noexcept;
  /// What was sent to `node` at `sent` has not been answered in time. Casts doubt on a
  /// leader that has answered nothing since; one that is slow or lost a single answer
  /// stays the leader, else overload would look like an outage.
  void timed_out(std::uint32_t node, TimePoint sent, TimePoint now) noexcept;
  void link_up(std::uint32_t node, TimePoint now) noexcept;
  void link_down(std::uint32_t node, TimePoint now) noexcept;
  void link_degraded(std::uint32_t node, TimePoint now) noexcept;
  /// Someone who watches the cluster says that `node` leads in `term`; kNoNode: that
  /// nobody is known to lead, which changes nothing about a leader that we know.
  void told(int node, std::uint64_t term, TimePoint now) noexcept;

  /// The node to probe now, or kNoNode. The caller sends one operation there.
  int take_probe(TimePoint now) noexcept;
  /// A node whose lost connection should be tried again now, or kNoNode.
  int take_reconnect(TimePoint now) noexcept;
  /// When `take_probe` (if something waits) or `take_reconnect` may next have an answer.
  [[nodiscard]] TimePoint next_event(bool something_waits) const noexcept;

 private:
  // An election takes tens of milliseconds at the least: asking more often than every
  // millisecond learns nothing, less often than every 50 ms adds to the outage.
  static constexpr Duration kProbeBackoffMin = std::chrono::milliseconds{1};
  static constexpr Duration kProbeBackoffMax = std::chrono::milliseconds{50};

  struct Node {
    bool up = true;
    bool probed = false;  ///< A probe is on its way to it.
    TimePoint reconnect_at = kNever;
    Duration reconnect_backoff{0};
  };

  void lose_leader(TimePoint probe_at) noexcept;
  void schedule_reconnect(Node& node, TimePoint now) noexcept;
  void adopt(int node, TimePoint now) noexcept;
  [[nodiscard]] bool usable(int node) const noexcept;

  std::vector<Node> nodes_;
  int leader_;
  std::uint64_t told_term_ = 0;
  std::uint32_t probe_next_ = 0;
  TimePoint probe_at_;
  Duration probe_backoff_ = kProbeBackoffMin;
  TimePoint answered_at_ = TimePoint::min();  ///< When the leader last gave a sign of life.
  std::uint32_t redirects_in_a_row_ = 0;
};

}  // namespace raftperf::load
