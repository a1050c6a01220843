// SPDX-License-Identifier: Apache-2.0
#include "load/leader_tracker.h"

#include <algorithm>
#include <utility>

namespace raftperf::load {
namespace {

using std::chrono::milliseconds;

constexpr Duration kReconnectBackoffMin = milliseconds{10};
constexpr Duration kReconnectBackoffMax = milliseconds{500};

}  // namespace

LeaderTracker::LeaderTracker(std::uint32_t nodes, int leader) : nodes_(nodes), leader_(leader) {}

bool LeaderTracker::usable(int node) const noexcept {
  return node >= 0 && static_cast<std::size_t>(node) < nodes_.size() &&
         nodes_[static_cast<std::size_t>(node)].up;
}

void LeaderTracker::lose_leader(TimePoint probe_at) noexcept {
  adopt(kNoNode, probe_at);
  probe_at_ = probe_at;
}

void LeaderTracker::adopt(int node, TimePoint now) noexcept {
  leader_ = node;
  answered_at_ = now;
  for (Node& each : nodes_) {
    each.probed = false;
  }
}

void LeaderTracker::rejected(std::uint32_t node, int hint, TimePoint now) noexcept {
  const int rejecting = static_cast<int>(node);
  // What was under way when the leader was changed or lost comes back in numbers and is
  // no news: it must not slow the search down.
  if (leader_ == kNoNode ? !std::exchange(nodes_[node].probed, false) : leader_ != rejecting) {
    return;
  }
  ++redirects_in_a_row_;
  // Nodes that redirect to each other must not keep operations circling: after each
  // node had two chances the search slows down.
  const bool circling = redirects_in_a_row_ > 2 * nodes_.size();
  if (usable(hint) && hint != rejecting && !circling) {
    adopt(hint, now);
    return;
  }
  if (circling) {
    redirects_in_a_row_ = 0;
  }
  if (leader_ != kNoNode) {
    lose_leader(now + probe_backoff_);
  } else {
    probe_at_ = now + probe_backoff_;
  }
  probe_backoff_ = std::min(2 * probe_backoff_, kProbeBackoffMax);
}

void LeaderTracker::timed_out(std::uint32_t node, TimePoint sent, TimePoint now) noexcept {
  if (leader_ == static_cast<int>(node) && nodes_.size() > 1 && answered_at_ < sent) {
    probe_next_ = node + 1;
    lose_leader(now);
  }
}

void LeaderTracker::link_up(std::uint32_t node, TimePoint now) noexcept {
  nodes_[node] = Node{};
  if (leader_ == kNoNode) {
    probe_at_ = std::min(probe_at_, now);
  }
}

void LeaderTracker::link_down(std::uint32_t node, TimePoint now) noexcept {
  Node& lost = nodes_[node];
  lost.up = false;
  schedule_reconnect(lost, now);
  if (leader_ == static_cast<int>(node)) {
    lose_leader(now);
  } else if (std::exchange(lost.probed, false)) {
    probe_at_ = now;
  }
}

void LeaderTracker::link_degraded(std::uint32_t node, TimePoint now) noexcept {
  Node& degraded = nodes_[node];
  degraded.up = true;
  schedule_reconnect(degraded, now);
  if (leader_ == kNoNode) {
    probe_at_ = std::min(probe_at_, now);
  }
}

void LeaderTracker::schedule_reconnect(Node& node, TimePoint now) noexcept {
  node.reconnect_backoff =
      std::clamp(2 * node.reconnect_backoff, kReconnectBackoffMin, kReconnectBackoffMax);
  node.reconnect_at = now + node.reconnect_backoff;
}

void LeaderTracker::told(int node, std::uint64_t term, TimePoint now) noexcept {
  if (node == kNoNode) {
    if (leader_ == kNoNode) {
      probe_at_ = std::min(probe_at_, now + kProbeBackoffMax);
    }
    return;
  }
  if (term <= told_term_ && leader_ != kNoNode) {
    return;
  }
  const bool newer = term > told_term_;
  told_term_ = std::max(told_term_, term);
  if (usable(node)) {
    adopt(node, now);
  } else if (newer) {
    // Whoever led before does so no more; the new leader is probed once it can be reached.
    probe_next_ = static_cast<std::uint32_t>(node);
    lose_leader(now);
  }
}

int LeaderTracker::take_probe(TimePoint now) noexcept {
  if (leader_ != kNoNode || now < probe_at_) {
    return kNoNode;
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const auto candidate = static_cast<std::uint32_t>((probe_next_ + i) % nodes_.size());
    if (nodes_[candidate].up) {
      probe_next_ = candidate + 1;
      nodes_[candidate].probed = true;
      // A node that holds its answer (it is stopped, say) does not stop the search.
      probe_at_ = now + kProbeBackoffMax;
      return static_cast<int>(candidate);
    }
  }
  probe_at_ = kNever;  // until a link comes up
  return kNoNode;
}

int LeaderTracker::take_reconnect(TimePoint now) noexcept {
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    Node& lost = nodes_[node];
    if (lost.reconnect_at <= now) {
      lost.reconnect_at = kNever;  // until the driver reports what became of it
      return static_cast<int>(node);
    }
  }
  return kNoNode;
}

TimePoint LeaderTracker::next_event(bool something_waits) const noexcept {
  TimePoint next = kNever;
  if (leader_ == kNoNode && something_waits) {
    next = probe_at_;
  }
  for (const Node& node : nodes_) {
    next = std::min(next, node.reconnect_at);
  }
  return next;
}

}  // namespace raftperf::load
