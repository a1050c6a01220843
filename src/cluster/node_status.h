// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace raftperf::cluster {

/// What a node says of itself, whatever its client protocol.
struct NodeStatus {
  enum class Role : std::uint8_t { kFollower, kCandidate, kLeader, kUnavailable };

  int node = -1;
  Role role = Role::kUnavailable;
  int leader = -1;  ///< Whom it believes to lead; -1: nobody.
  std::uint64_t term = 0;
  std::uint64_t commit_index = 0;
  std::uint64_t applied_index = 0;
  std::optional<std::uint64_t> operation_count;  ///< Of clients' writes applied.
  std::optional<std::uint64_t> checksum;         ///< Over those; equal on equal replicas.
  std::optional<std::uint64_t> run_token;        ///< Given to it when it was started.
};

/// "follower", "candidate", "leader", "unavailable".
std::string_view to_string(NodeStatus::Role role) noexcept;

}  // namespace raftperf::cluster
