// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cluster/event.h"

namespace raftperf::cluster {

/// What happened to a cluster, in the order in which it was noticed. Thread-safe. Never
/// on the path of an operation.
class EventLog {
 public:
  EventLog() = default;
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  /// Notes an event now. It is planned if a PlannedScope is open.
  void record(EventCode code, std::optional<int> node, std::string detail);
  void record(EventCode code, std::optional<int> node, std::string detail, EventOrigin origin);

  [[nodiscard]] std::vector<Event> events() const;

  /// While one lives, changes that are noticed (an exit, a new leader, a silent node)
  /// count as planned. A fault and the recovery from it belong under one scope.
  class PlannedScope {
   public:
    explicit PlannedScope(EventLog& log);
    PlannedScope(const PlannedScope&) = delete;
    PlannedScope& operator=(const PlannedScope&) = delete;
    ~PlannedScope();

   private:
    EventLog& log_;
  };

 private:
  mutable std::mutex mutex_;
  std::vector<Event> events_;  // GUARDED_BY mutex_
  int planned_scopes_ = 0;     // GUARDED_BY mutex_
};

}  // namespace raftperf::cluster
