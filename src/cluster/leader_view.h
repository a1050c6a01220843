// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "cluster/node_status.h"

namespace raftperf::cluster {

/// Who leads, as seen from outside.
struct LeaderView {
  int leader = -1;         ///< A node's index; -1 if nobody is known to lead.
  std::uint64_t term = 0;  ///< Its term, or the highest seen if nobody leads.

  friend bool operator==(const LeaderView&, const LeaderView&) = default;
};

/// What is known of one node.
struct NodeView {
  enum class Contact : std::uint8_t {
    kUnknown,  ///< Not asked yet.
    kAnswers,
    kSilent,  ///< No answer in time: frozen, overloaded or cut off.
    kGone,    ///< Nobody serves at its address.
  };

  Contact contact = Contact::kUnknown;
  std::optional<NodeStatus> last;  ///< Its latest answer, however old.
};

/// Who leads a cluster of these nodes.
///
/// Several may claim to: the highest term is right. A leader that has fallen silent
/// still counts, as it does for a client, until more than half of the nodes are in a
/// later term; one that is gone does not. Where no leader answers, the one that the
/// others name counts.
LeaderView decide_leader(std::span<const NodeView> nodes);

}  // namespace raftperf::cluster
