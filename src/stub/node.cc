// SPDX-License-Identifier: Apache-2.0
#include "stub/node.h"

#include <utility>

#include "base/check.h"

namespace raftperf::stub {
namespace {

Answer compared(wire::ReplyTo to, const State::Compared& result) noexcept {
  return {.to = to,
          .status = result.matched ? wire::Status::kOk : wire::Status::kMismatch,
          .value = result.value};
}

Decision refused(wire::ReplyTo to, wire::Status status) noexcept {
  return {.action = Action::kRefuse, .answer = {.to = to, .status = status}};
}

}  // namespace

Node::Node(const Identity& identity, FaultPlan faults, Counters& counters)
    : identity_(identity), faults_(std::move(faults)), counters_(&counters) {}

Decision Node::decide(const wire::Frame& operation, TimePoint now) {
  if (!first_operation_) [[unlikely]] {
    first_operation_ = now;
  }
  count(operation.kind);
  const wire::ReplyTo to = wire::reply_to(operation);
  const Fault fault = faults_.next(operation.kind, now - *first_operation_);
  if (fault == Fault::kNotLeader || identity_.leader != identity_.node) [[unlikely]] {
    Decision redirected = refused(to, wire::Status::kNotLeader);
    redirected.answer.hint = other_leader();
    return redirected;
  }
  switch (fault) {
    case Fault::kNone:
    case Fault::kNotLeader:
      break;
    case Fault::kDrop:
      ++counters_->dropped;
      return {.action = Action::kDrop, .answer = {}};
    case Fault::kHold:
      ++counters_->held;
      return {.action = Action::kHold, .answer = apply(operation)};
    case Fault::kApplyThenClose:
      ++counters_->closed_without_answer;
      apply(operation);
      return {.action = Action::kClose, .answer = {}};
    case Fault::kAckWithoutApply:
      return {.action = Action::kServe, .answer = pretend(operation)};
    case Fault::kError:
      return refused(to, wire::Status::kError);
    case Fault::kBusy:
      return refused(to, wire::Status::kBusy);
    case Fault::kMismatch:
      ++counters_->applied;
      return {.action = Action::kServe,
              .answer = compared(to, state_.mismatch(wire::get_compare_and_set(operation.body)))};
  }
  return {.action = Action::kServe, .answer = apply(operation)};
}

void Node::count(wire::Kind kind) noexcept {
  ++counters_->received;
  if (kind == wire::Kind::kAppend) {
    ++counters_->received_appends;
  } else if (kind == wire::Kind::kCompareAndSet) {
    ++counters_->received_compare_and_sets;
  } else {
    ++counters_->received_gets;
  }
}

Answer Node::apply(const wire::Frame& operation) {
  const wire::ReplyTo to = wire::reply_to(operation);
  if (operation.kind == wire::Kind::kGet) {
    return {.to = to, .value = state_.get(wire::load<std::uint64_t>(operation.body.data()))};
  }
  ++counters_->applied;
  if (operation.kind == wire::Kind::kAppend) {
    return {.to = to, .value = state_.append(operation.body)};
  }
  return compared(to, state_.compare_and_set(wire::get_compare_and_set(operation.body)));
}

Answer Node::pretend(const wire::Frame& operation) {
  if (operation.kind == wire::Kind::kGet) {
    return apply(operation);
  }
  ++counters_->acknowledged_without_apply;
  const wire::ReplyTo to = wire::reply_to(operation);
  if (operation.kind == wire::Kind::kAppend) {
    return {.to = to, .value = state_.operation_count() + 1};
  }
  return compared(to, state_.peek(wire::get_compare_and_set(operation.body)));
}

void Node::write(const Answer& answer, std::vector<std::byte>& out) {
  ++counters_->answered[static_cast<std::size_t>(answer.status)];
  ++counters_->frames_sent;
  switch (answer.status) {
    case wire::Status::kOk:
      return wire::append_value(out, answer.to, answer.value);
    case wire::Status::kMismatch:
      return wire::append_mismatch(out, answer.to, answer.value);
    case wire::Status::kNotLeader:
      return wire::append_not_leader(out, answer.to, answer.hint);
    case wire::Status::kBusy:
      return wire::append_busy(out, answer.to);
    case wire::Status::kError:
      return wire::append_error(out, answer.to, "refused by --error-every");
  }
}

void Node::answer_control(const wire::Frame& request, TimePoint now, std::vector<std::byte>& out) {
  ++counters_->frames_sent;
  if (request.kind == wire::Kind::kStatus) {
    ++counters_->status_requests;
    wire::append_node_status(out, request.correlation_id, status(now));
    return;
  }
  CHECK(request.kind == wire::Kind::kTransferLeader);
  ++counters_->transfers;
  const auto node = wire::load<std::int32_t>(request.body.data());
  if (node < wire::kNoNode) {
    wire::append_error(out, wire::reply_to(request), "no such node");
    return;
  }
  if (node != identity_.leader) {
    identity_.leader = node;
    ++term_;
  }
  wire::append_done(out, wire::reply_to(request));
}

std::optional<std::chrono::nanoseconds> Node::elapsed(TimePoint now) const noexcept {
  return first_operation_ ? std::optional(now - *first_operation_) : std::nullopt;
}

wire::HelloReply Node::hello() const noexcept {
  return {.version = wire::kVersion,
          .node = identity_.node,
          .run_token = identity_.run_token,
          .body_length_max = wire::kBodyLengthMax};
}

bool Node::leads(TimePoint now) const noexcept {
  constexpr std::chrono::nanoseconds kBeforeEveryWindow{-1};
  return identity_.leader == identity_.node &&
         !faults_.denies_leadership(elapsed(now).value_or(kBeforeEveryWindow));
}

std::int32_t Node::other_leader() const noexcept {
  return identity_.leader != identity_.node ? identity_.leader : faults_.hint();
}

wire::NodeStatus Node::status(TimePoint now) const noexcept {
  const bool leads_now = leads(now);
  return {.node = identity_.node,
          .role = leads_now ? wire::Role::kLeader : wire::Role::kFollower,
          .leader = leads_now ? identity_.node : other_leader(),
          .term = term_,
          .commit_index = state_.operation_count(),
          .applied_index = state_.operation_count(),
          .operation_count = state_.operation_count(),
          .checksum = state_.checksum(),
          .run_token = identity_.run_token};
}

}  // namespace raftperf::stub
