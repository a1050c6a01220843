// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "stub/counters.h"
#include "stub/faults.h"
#include "stub/service_times.h"
#include "stub/state.h"
#include "wire/cpp/frame.h"
#include "wire/cpp/reply.h"

namespace raftperf::stub {

/// Who the stub says it is.
struct Identity {
  std::int32_t node = 0;
  std::int32_t leader = 0;  ///< The node it believes to lead.
  std::uint64_t run_token = 0;
};

/// An answer to an operation, before it is written.
struct Answer {
  wire::ReplyTo to;
  wire::Status status = wire::Status::kOk;
  std::uint64_t value = 0;            ///< Of ok and mismatch.
  std::int32_t hint = wire::kNoNode;  ///< Of not_leader.
};

/// What becomes of an operation.
enum class Action : std::uint8_t {
  kServe,   ///< Answer once the service is done.
  kRefuse,  ///< Answer without service.
  kHold,    ///< Answer at the drain.
  kDrop,    ///< No answer.
  kClose,   ///< No answer; close its connection.
};

struct Decision {
  Action action = Action::kServe;
  Answer answer;  ///< Not for kDrop and kClose.
};

/// The stub without its sockets: state, faults and what each request is answered.
/// Operations are applied when they are received. One thread.
class Node {
 public:
  /// Counts into `counters`, which must outlive the node.
  Node(const Identity& identity, FaultPlan faults, Counters& counters);

  /// REQUIRES: an append, compare_and_set or get, received at `now`.
  Decision decide(const wire::Frame& operation, TimePoint now);

  /// Answers a status or transfer_leader. REQUIRES: one of these.
  void answer_control(const wire::Frame& request, TimePoint now, std::vector<std::byte>& out);

  /// Writes an answer of `decide` and counts it.
  void write(const Answer& answer, std::vector<std::byte>& out);

  /// Time since the first operation; none before it.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> elapsed(TimePoint now) const noexcept;

  [[nodiscard]] wire::HelloReply hello() const noexcept;
  [[nodiscard]] wire::NodeStatus status(TimePoint now) const noexcept;

 private:
  void count(wire::Kind kind) noexcept;
  [[nodiscard]] bool leads(TimePoint now) const noexcept;
  /// Whom operations are redirected to while this node does not lead.
  [[nodiscard]] std::int32_t other_leader() const noexcept;
  Answer apply(const wire::Frame& operation);
  Answer pretend(const wire::Frame& operation);

  Identity identity_;
  Faults faults_;
  Counters* counters_;
  State state_;
  std::uint64_t term_ = 1;
  std::optional<TimePoint> first_operation_;
};

}  // namespace raftperf::stub
