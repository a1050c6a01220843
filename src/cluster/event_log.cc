// SPDX-License-Identifier: Apache-2.0
#include "cluster/event_log.h"

#include <utility>

namespace raftperf::cluster {

std::string_view to_string(EventCode code) noexcept {
  switch (code) {
    case EventCode::kNodeStarted:
      return "node_started";
    case EventCode::kNodeReady:
      return "node_ready";
    case EventCode::kNodeExited:
      return "node_exited";
    case EventCode::kNodeStopped:
      return "node_stopped";
    case EventCode::kLeaderChanged:
      return "leader_changed";
    case EventCode::kLeaderLost:
      return "leader_lost";
    case EventCode::kTermChanged:
      return "term_changed";
    case EventCode::kNotReachable:
      return "not_reachable";
    case EventCode::kReachable:
      return "reachable";
    case EventCode::kFaultStop:
      return "fault_stop";
    case EventCode::kFaultContinue:
      return "fault_continue";
    case EventCode::kFaultKill:
      return "fault_kill";
    case EventCode::kTransfer:
      return "transfer_leader";
    case EventCode::kNote:
      return "note";
  }
  return "?";
}

std::string_view to_string(EventOrigin origin) noexcept {
  return origin == EventOrigin::kPlanned ? "planned" : "unplanned";
}

void EventLog::record(EventCode code, std::optional<int> node, std::string detail) {
  const std::scoped_lock lock(mutex_);
  events_.push_back(
      Event{.time = std::chrono::steady_clock::now(),
            .utc = std::chrono::system_clock::now(),
            .node = node,
            .code = code,
            .detail = std::move(detail),
            .origin = planned_scopes_ > 0 ? EventOrigin::kPlanned : EventOrigin::kUnplanned});
}

void EventLog::record(EventCode code, std::optional<int> node, std::string detail,
                      EventOrigin origin) {
  const std::scoped_lock lock(mutex_);
  events_.push_back(Event{.time = std::chrono::steady_clock::now(),
                          .utc = std::chrono::system_clock::now(),
                          .node = node,
                          .code = code,
                          .detail = std::move(detail),
                          .origin = origin});
}

std::vector<Event> EventLog::events() const {
  const std::scoped_lock lock(mutex_);
  return events_;
}

EventLog::PlannedScope::PlannedScope(EventLog& log) : log_(log) {
  const std::scoped_lock lock(log_.mutex_);
  ++log_.planned_scopes_;
}

EventLog::PlannedScope::~PlannedScope() {
  const std::scoped_lock lock(log_.mutex_);
  --log_.planned_scopes_;
}

}  // namespace raftperf::cluster
