// SPDX-License-Identifier: Apache-2.0
#include "cluster/wire_probe.h"

#include <fmt/format.h>

#include <array>

namespace raftperf::cluster {
namespace {

constexpr std::array<std::byte, 8> kProbePayload{};

NodeStatus::Role to_role(wire::Role role) noexcept {
  switch (role) {
    case wire::Role::kFollower:
      return NodeStatus::Role::kFollower;
    case wire::Role::kCandidate:
      return NodeStatus::Role::kCandidate;
    case wire::Role::kLeader:
      return NodeStatus::Role::kLeader;
    case wire::Role::kUnavailable:
      break;
  }
  return NodeStatus::Role::kUnavailable;
}

/// A refusal as one line: "127.0.0.1:8301: append was answered not_leader".
Error refused(const net::Endpoint& endpoint, std::string_view request, const wire::Reply& reply) {
  std::string line = fmt::format("{}: {} was answered {}", net::to_string(endpoint), request,
                                 wire::to_string(reply.status));
  if (!reply.error_text.empty()) {
    line += fmt::format(": {}", reply.error_text);
  }
  return Error{line};
}

}  // namespace

Result<void> WireProbe::ensure_connected(Timeout timeout) {
  if (client_ && client_->is_open()) {
    return {};
  }
  client_.reset();
  auto connected = wire::Client::connect(endpoint_, timeout);
  if (!connected) {
    return Error{connected.error()};
  }
  client_.emplace(*std::move(connected));
  return {};
}

Result<NodeStatus> WireProbe::status(Timeout timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  if (auto connected = ensure_connected(timeout); !connected) {
    return Error{connected.error()};
  }
  const auto left = std::chrono::ceil<Timeout>(deadline - std::chrono::steady_clock::now());
  const auto reply = client_->status(std::max(left, Timeout{1}));
  if (!reply) {
    return Error{reply.error()};
  }
  if (reply->status != wire::Status::kOk) {
    return refused(endpoint_, "status", *reply);
  }
  const wire::NodeStatus& status = reply->node_status;
  return NodeStatus{.node = status.node,
                    .role = to_role(status.role),
                    .leader = status.leader,
                    .term = status.term,
                    .commit_index = status.commit_index,
                    .applied_index = status.applied_index,
                    .operation_count = status.operation_count,
                    .checksum = status.checksum,
                    .run_token = status.run_token};
}

Result<void> WireProbe::write(Timeout timeout) {
  if (auto connected = ensure_connected(timeout); !connected) {
    return connected;
  }
  const auto reply = client_->append(kProbePayload, timeout);
  if (!reply) {
    return Error{reply.error()};
  }
  return reply->status == wire::Status::kOk ? Result<void>()
                                            : Result<void>(refused(endpoint_, "append", *reply));
}

Result<void> WireProbe::transfer_leader(int node, Timeout timeout) {
  if (auto connected = ensure_connected(timeout); !connected) {
    return connected;
  }
  const auto reply = client_->transfer_leader(node, timeout);
  if (!reply) {
    return Error{reply.error()};
  }
  return reply->status == wire::Status::kOk
             ? Result<void>()
             : Result<void>(refused(endpoint_, "transfer_leader", *reply));
}

}  // namespace raftperf::cluster
