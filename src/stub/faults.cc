// SPDX-License-Identifier: Apache-2.0
#include "stub/faults.h"

#include <algorithm>
#include <utility>

namespace raftperf::stub {
namespace {

bool is_active(const FaultPlan& plan) noexcept {
  return plan.drop_every != 0 || plan.hold_every != 0 || plan.apply_then_close_every != 0 ||
         plan.ack_without_apply_every != 0 || plan.error_every != 0 || plan.busy_every != 0 ||
         plan.mismatch_every != 0 || plan.never_leader || !plan.not_leader_windows.empty();
}

bool hits(std::uint64_t number, std::uint64_t every) noexcept {
  return every != 0 && number % every == 0;
}

}  // namespace

Faults::Faults(FaultPlan plan) : plan_(std::move(plan)), active_(is_active(plan_)) {}

bool Faults::denies_leadership(std::chrono::nanoseconds elapsed) const noexcept {
  return plan_.never_leader ||
         std::any_of(plan_.not_leader_windows.begin(), plan_.not_leader_windows.end(),
                     [elapsed](const Window& window) { return window.contains(elapsed); });
}

Fault Faults::next_of_plan(wire::Kind kind, std::chrono::nanoseconds elapsed) noexcept {
  const bool compares = kind == wire::Kind::kCompareAndSet;
  compare_and_sets_ += compares ? 1 : 0;
  if (denies_leadership(elapsed)) {
    return Fault::kNotLeader;
  }
  if (hits(operations_, plan_.drop_every)) {
    return Fault::kDrop;
  }
  if (hits(operations_, plan_.hold_every)) {
    return Fault::kHold;
  }
  if (hits(operations_, plan_.apply_then_close_every)) {
    return Fault::kApplyThenClose;
  }
  if (hits(operations_, plan_.ack_without_apply_every)) {
    return Fault::kAckWithoutApply;
  }
  if (hits(operations_, plan_.error_every)) {
    return Fault::kError;
  }
  if (hits(operations_, plan_.busy_every)) {
    return Fault::kBusy;
  }
  return compares && hits(compare_and_sets_, plan_.mismatch_every) ? Fault::kMismatch
                                                                   : Fault::kNone;
}

}  // namespace raftperf::stub
