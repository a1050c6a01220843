// SPDX-License-Identifier: Apache-2.0
#include "load/judgement.h"

#include <cmath>

namespace raftperf::load {
namespace {

constexpr Duration kLagJudged = std::chrono::microseconds{50};
constexpr std::uint64_t kOkMin = 100;
constexpr double kRigLateShareMax = 0.001;
constexpr double kTurnGapShareMax = 0.2;
constexpr double kDriftShareMax = 0.2;
constexpr Duration kDriftMin = std::chrono::microseconds{50};
constexpr double kStealShareMax = 0.01;
constexpr double kBusyShareMax = 0.9;
constexpr double kLittleOffMax = 0.1;
// Sampling a small number of operations in flight scatters by itself; a deviation
// within so many standard errors of the sampled mean says nothing about the rig.
constexpr double kLittleStandardErrors = 4;
constexpr double kAtCapShareMax = 0.01;
constexpr double kServersBusyShare = 0.8;

constexpr double kFailedShareMax = 0.001;
constexpr double kAchievedShareMin = 0.99;
constexpr std::uint64_t kAchievedJudgedFrom = 1000;

double share(std::uint64_t part, std::uint64_t whole) noexcept {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

double micros(Duration duration) noexcept {
  return std::chrono::duration<double, std::micro>(duration).count();
}

class RigJudge {
 public:
  RigJudge(const Summary& summary, const Surroundings& surroundings)
      : summary_(summary), surroundings_(surroundings) {}

  RigJudgement judge() && {
    validity();
    share_at(kP50, "rig_share_p50", 0.10, 0.25);
    share_at(kP99, "rig_share_p99", 0.20, 0.50);
    polling();
    steadiness();
    little();
    machine();
    cluster();
    return std::move(judgement_);
  }

 private:
  void find(RigStatus status, const Finding& finding) {
    judgement_.status = std::max(judgement_.status, status);
    judgement_.reasons.push_back(finding);
  }

  void validity() {
    if (!summary_.imbalance.empty()) {
      find(RigStatus::kInvalid,
           {"books", 1, 0, "", "a bug of raftperf: please report this record"});
    }
    if (summary_.bad_stamps > 0) {
      find(RigStatus::kInvalid, {"driver_stamps", static_cast<double>(summary_.bad_stamps), 0, "",
                                 "a bug of the driver: arrivals outside of send and now"});
    }
    if (summary_.books.ok < kOkMin) {
      find(RigStatus::kInvalid,
           {"few_ok", static_cast<double>(summary_.books.ok), static_cast<double>(kOkMin), "",
            "measure longer or at a higher rate; look at rejected and unknown"});
    }
    if (const std::uint64_t overflow = summary_.histograms.overflow(); overflow > 0) {
      find(RigStatus::kInvalid, {"histogram_overflow", static_cast<double>(overflow), 0, "",
                                 "the client was stopped for longer than the whole run"});
    }
    const double late = share(summary_.books.count(Drop::kRigLate), summary_.books.scheduled);
    if (late > kRigLateShareMax) {
      find(RigStatus::kInvalid, {"rig_late", 100 * late, 100 * kRigLateShareMax, "%",
                                 "give the client a core of its own, or add --workers"});
    }
  }

  void share_at(const Quantile& quantile, std::string_view code, double suspect, double invalid) {
    const Histogram& lags =
        summary_.burst > 1 ? summary_.histograms.burst_lag : summary_.histograms.lag;
    const auto lag = lags.at(quantile);
    const auto rig_share = summary_.rig_share(quantile);
    if (!lag || !rig_share || *lag <= kLagJudged || *rig_share <= suspect) {
      return;
    }
    const bool is_invalid = *rig_share > invalid;
    find(is_invalid ? RigStatus::kInvalid : RigStatus::kSuspect,
         {code, 100 * *rig_share, 100 * (is_invalid ? invalid : suspect), "%",
          "the client was late: a free core, --pace spin, more --workers, or a lower rate"});
  }

  void polling() {
    const auto gap = summary_.turn_gap.at(kP99);
    const auto service = summary_.histograms.service.at(kP99);
    if (gap && service && micros(*gap) > kTurnGapShareMax * micros(*service)) {
      find(RigStatus::kSuspect,
           {"turn_gap_p99", micros(*gap), kTurnGapShareMax * micros(*service), "us",
            "answers were read late: give the client a core of its own"});
    }
    if (summary_.busy_share > kBusyShareMax) {
      find(RigStatus::kSuspect, {"client_bound", 100 * summary_.busy_share, 100 * kBusyShareMax,
                                 "%", "the generator was the limit: add --workers or clients"});
    }
  }

  void steadiness() {
    if (summary_.unsent_at_window_start > 0) {
      find(RigStatus::kSuspect,
           {"unsent_at_start", static_cast<double>(summary_.unsent_at_window_start), 0, "",
            "the warm-up left a backlog: lengthen it or lower the rate"});
    }
    const auto mean = summary_.in_flight_mean();
    const auto at_start = static_cast<double>(summary_.unanswered_at_window_start);
    if (summary_.mode == LoadMode::kOpen && mean) {
      const double limit = 2 * *mean + static_cast<double>(summary_.burst);
      if (at_start > limit) {
        find(RigStatus::kSuspect, {"backlog_at_start", at_start, limit, "",
                                   "the warm-up left a backlog: lengthen it or lower the rate"});
      }
    }
    if (summary_.p50_first_third && summary_.p50_last_third) {
      const Duration first = *summary_.p50_first_third;
      const Duration last = *summary_.p50_last_third;
      const double apart = std::abs(micros(last) - micros(first));
      const double limit =
          std::max(kDriftShareMax * micros(std::min(first, last)), micros(kDriftMin));
      if (apart > limit) {
        find(RigStatus::kSuspect, {"drift", apart, limit, "us",
                                   "not a steady state: lengthen the warm-up or lower the rate"});
      }
    }
  }

  void little() {
    const auto ratio = summary_.little_ratio();
    if (!ratio || std::abs(*ratio - 1) <= kLittleOffMax) {
      return;
    }
    if (summary_.mode == LoadMode::kOpen) {
      const double mean = summary_.in_flight.mean().value_or(0);
      const double scatter = kLittleStandardErrors * summary_.in_flight.standard_error();
      if (std::abs(*ratio - 1) * mean <= scatter) {
        return;
      }
    }
    find(RigStatus::kSuspect,
         {"little", *ratio, 1 + std::copysign(kLittleOffMax, *ratio - 1), "",
          "rate x latency is not what was in flight: look at unknown and drops"});
  }

  void machine() {
    if (surroundings_.steal_share && *surroundings_.steal_share > kStealShareMax) {
      find(RigStatus::kSuspect, {"steal", 100 * *surroundings_.steal_share, 100 * kStealShareMax,
                                 "%", "the hypervisor took CPU time away: another host or time"});
    }
    const double at_cap = share(summary_.counts.at_cap, summary_.books.scheduled);
    if (at_cap > kAtCapShareMax && surroundings_.servers_cpu_share &&
        *surroundings_.servers_cpu_share < kServersBusyShare) {
      find(RigStatus::kSuspect, {"cap_bound", 100 * at_cap, 100 * kAtCapShareMax, "%",
                                 "the servers were not busy: check --max-inflight first"});
    }
  }

  void cluster() {
    if (surroundings_.acknowledged_missing > 0) {
      find(RigStatus::kInvalid,
           {"acknowledged_missing", static_cast<double>(surroundings_.acknowledged_missing), 0, "",
            "the cluster lost what it acknowledged: its numbers mean nothing"});
    }
    if (surroundings_.replicas_differ) {
      find(RigStatus::kInvalid, {"replicas_differ", 1, 0, "",
                                 "the nodes hold different states: their numbers mean nothing"});
    }
    if (surroundings_.nodes_exited_unplanned > 0) {
      find(RigStatus::kSuspect,
           {"node_exited", static_cast<double>(surroundings_.nodes_exited_unplanned), 0, "",
            "unplanned: look at the events and the node's log; repeat"});
    }
    if (surroundings_.leader_changes_unplanned > 0) {
      find(RigStatus::kSuspect,
           {"leader_changed", static_cast<double>(surroundings_.leader_changes_unplanned), 0, "",
            "unplanned: look at the events; repeat the run"});
    }
    if (surroundings_.leader_elsewhere) {
      find(RigStatus::kSuspect,
           {"leader_elsewhere", 1, 0, "", "raftperf cluster transfer-leader, or --leader any"});
    }
  }

  const Summary& summary_;
  const Surroundings& surroundings_;
  RigJudgement judgement_;
};

}  // namespace

std::string_view to_string(RigStatus status) noexcept {
  switch (status) {
    case RigStatus::kValid:
      return "VALID";
    case RigStatus::kSuspect:
      return "SUSPECT";
    case RigStatus::kInvalid:
      return "INVALID";
  }
  return "?";
}

std::string_view to_string(LoadStatus status) noexcept {
  switch (status) {
    case LoadStatus::kCarried:
      return "CARRIED";
    case LoadStatus::kOverloaded:
      return "OVERLOADED";
    case LoadStatus::kFaulted:
      return "FAULTED";
  }
  return "?";
}

RigJudgement judge_rig(const Summary& summary, const Surroundings& surroundings) {
  return RigJudge(summary, surroundings).judge();
}

LoadJudgement judge_load(const Summary& summary, const Surroundings& surroundings) {
  LoadJudgement judgement;
  const Books& books = summary.books;
  const double failed = share(books.rejected + books.unknown_total(), books.scheduled);
  if (failed >= kFailedShareMax) {
    judgement.reasons.push_back({"failed", 100 * failed, 100 * kFailedShareMax, "%",
                                 "rejected or unknown: look at the cluster's health and logs"});
  }
  if (summary.mode == LoadMode::kOpen) {
    const double dropped = share(books.dropped_total(), books.scheduled);
    if (dropped >= kFailedShareMax) {
      judgement.reasons.push_back({"dropped", 100 * dropped, 100 * kFailedShareMax, "%",
                                   "the offered rate was not placed: lower it"});
    }
    const double due_per_s = static_cast<double>(books.scheduled) / summary.measure_s();
    if (books.scheduled >= kAchievedJudgedFrom &&
        summary.achieved_per_s() < kAchievedShareMin * due_per_s) {
      judgement.reasons.push_back({"achieved", summary.achieved_per_s(),
                                   kAchievedShareMin * due_per_s, "/s",
                                   "the cluster fell behind the offered rate: lower it"});
    }
  }
  if (!judgement.reasons.empty()) {
    judgement.status = LoadStatus::kOverloaded;
  }
  if (surroundings.fault_planned) {
    judgement.status = LoadStatus::kFaulted;
  }
  return judgement;
}

}  // namespace raftperf::load
