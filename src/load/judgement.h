// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "load/summary.h"

namespace raftperf::load {

/// Did the generator do what it claims?
enum class RigStatus : std::uint8_t { kValid, kSuspect, kInvalid };
/// Did the cluster carry what was asked of it?
enum class LoadStatus : std::uint8_t {
  kCarried,
  kOverloaded,  ///< A result, not a mistake.
  kFaulted,     ///< A planned fault ran: drops, unknowns and leader changes are results.
};

std::string_view to_string(RigStatus status) noexcept;
std::string_view to_string(LoadStatus status) noexcept;

/// One criterion that was not met: what was measured, against which limit, and what to
/// do about it. `unit` is empty for plain numbers.
struct Finding {
  std::string_view code;
  double measured = 0;
  double limit = 0;
  std::string_view unit;
  std::string_view remedy;
};

struct RigJudgement {
  RigStatus status = RigStatus::kValid;
  std::vector<Finding> reasons;
};

struct LoadJudgement {
  LoadStatus status = LoadStatus::kCarried;
  std::vector<Finding> reasons;
};

/// What a judgement needs and the rig cannot know by itself. Absent is unknown, and an
/// unknown is not judged.
struct Surroundings {
  std::optional<double> steal_share;        ///< Of the machine's CPU time, in the window.
  std::optional<double> servers_cpu_share;  ///< Of one core, of the busiest server process.
  std::uint64_t leader_changes_unplanned = 0;
  std::uint64_t nodes_exited_unplanned = 0;
  std::uint64_t acknowledged_missing = 0;  ///< Operations acknowledged and not applied.
  bool replicas_differ = false;
  bool leader_elsewhere = false;  ///< The leader was not where it was asked for.
  bool fault_planned = false;
};

/// Every limit is docs/MEASUREMENT.md's, section "Judgements".
RigJudgement judge_rig(const Summary& summary, const Surroundings& surroundings);
LoadJudgement judge_load(const Summary& summary, const Surroundings& surroundings);

}  // namespace raftperf::load
