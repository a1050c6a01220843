// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace raftperf::cluster {

/// What happened to a cluster or one of its nodes.
enum class EventCode : std::uint8_t {
  kNodeStarted,
  kNodeReady,
  kNodeExited,
  kNodeStopped,    ///< By us, in an orderly way.
  kLeaderChanged,  ///< Another node leads than the last that did.
  kLeaderLost,     ///< Nobody is known to lead.
  kTermChanged,
  kNotReachable,
  kReachable,
  kFaultStop,      ///< SIGSTOP by us.
  kFaultContinue,  ///< SIGCONT by us.
  kFaultKill,      ///< SIGKILL by us.
  kTransfer,       ///< We asked for another leader.
  kNote,           ///< Something a reader of the record should know.
};

/// As in the record: "node_started", ...
std::string_view to_string(EventCode code) noexcept;

/// Whether we caused it.
enum class EventOrigin : std::uint8_t { kPlanned, kUnplanned };

/// "planned", "unplanned".
std::string_view to_string(EventOrigin origin) noexcept;

/// One entry of the cluster's history.
struct Event {
  std::chrono::steady_clock::time_point time;  ///< The clock of the measurement.
  std::chrono::system_clock::time_point utc;
  std::optional<int> node;
  EventCode code = EventCode::kNote;
  std::string detail;
  EventOrigin origin = EventOrigin::kUnplanned;
};

}  // namespace raftperf::cluster
