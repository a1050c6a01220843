// SPDX-License-Identifier: Apache-2.0
#include "cluster/leader_view.h"

#include <algorithm>

namespace raftperf::cluster {
namespace {

using Contact = NodeView::Contact;

bool usable(const NodeView& node) { return node.contact != Contact::kGone && node.last; }

/// The claim of node i to lead, if it makes one.
std::optional<LeaderView> own_claim(std::span<const NodeView> nodes, std::size_t i) {
  if (!usable(nodes[i]) || nodes[i].last->role != NodeStatus::Role::kLeader) {
    return std::nullopt;
  }
  return LeaderView{.leader = static_cast<int>(i), .term = nodes[i].last->term};
}

/// Whom node i names, if that one can neither confirm nor deny it.
std::optional<LeaderView> named_by(std::span<const NodeView> nodes, std::size_t i) {
  if (!usable(nodes[i]) || nodes[i].last->leader < 0) {
    return std::nullopt;
  }
  const auto named = static_cast<std::size_t>(nodes[i].last->leader);
  if (named >= nodes.size() || nodes[named].contact != Contact::kSilent) {
    return std::nullopt;
  }
  return LeaderView{.leader = static_cast<int>(named), .term = nodes[i].last->term};
}

}  // namespace

LeaderView decide_leader(std::span<const NodeView> nodes) {
  LeaderView best;
  std::uint64_t highest_term = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (usable(nodes[i])) {
      highest_term = std::max(highest_term, nodes[i].last->term);
    }
    for (const auto& claim : {own_claim(nodes, i), named_by(nodes, i)}) {
      if (claim && (best.leader < 0 || claim->term > best.term)) {
        best = *claim;
      }
    }
  }
  const auto beyond = std::count_if(nodes.begin(), nodes.end(), [&](const NodeView& node) {
    return usable(node) && node.last->term > best.term;
  });
  const bool deposed = static_cast<std::size_t>(beyond) * 2 > nodes.size();
  if (best.leader < 0 || deposed) {
    return LeaderView{.leader = -1, .term = highest_term};
  }
  return best;
}

}  // namespace raftperf::cluster
