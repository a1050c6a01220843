// SPDX-License-Identifier: Apache-2.0
#include "run/verification.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

namespace raftperf::run {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kTimeout = 1000ms;
constexpr auto kRestWait = 3s;
constexpr auto kRestStep = 50ms;

/// The operations that a cluster has applied: its leader's word, once that has applied
/// all it committed.
std::optional<std::uint64_t> applied_by_leader(const std::vector<cluster::NodeView>& views) {
  const cluster::LeaderView leader = cluster::decide_leader(views);
  if (leader.leader < 0) {
    return std::nullopt;
  }
  const cluster::NodeView& view = views[static_cast<std::size_t>(leader.leader)];
  if (view.contact != cluster::NodeView::Contact::kAnswers || !view.last ||
      view.last->applied_index != view.last->commit_index) {
    return std::nullopt;
  }
  return view.last->operation_count;
}

/// Two nodes that applied equally many operations must hold the same state.
bool differ(const std::vector<cluster::NodeView>& views) {
  for (const auto& a : views) {
    for (const auto& b : views) {
      if (a.last && b.last && a.last->operation_count && b.last->operation_count &&
          *a.last->operation_count == *b.last->operation_count &&
          a.last->checksum != b.last->checksum) {
        return true;
      }
    }
  }
  return false;
}

std::size_t agreeing_with(std::uint64_t applied, const std::vector<cluster::NodeView>& views) {
  std::size_t count = 0;
  for (const auto& view : views) {
    count += view.last && view.last->operation_count == applied ? 1U : 0U;
  }
  return count;
}

}  // namespace

Verification Verification::begin(std::string_view protocol,
                                 const std::vector<net::Endpoint>& nodes) {
  Verification verification;
  auto probe = cluster::ClusterProbe::create(protocol, nodes);
  if (!probe) {
    verification.problem_ = probe.error();
    return verification;
  }
  verification.probe_.emplace(*std::move(probe));
  verification.applied_before_ = applied_by_leader(verification.probe_->look(kTimeout));
  if (!verification.applied_before_) {
    verification.problem_ = "no leader told its operation count before the run";
  }
  return verification;
}

Verification::Verdict Verification::finish(record::VerificationRecord& record) {
  record.status = "not_done";
  record.detail = problem_;
  if (!probe_ || !applied_before_) {
    return {};
  }
  std::vector<cluster::NodeView> views;
  std::optional<std::uint64_t> applied;
  const auto deadline = std::chrono::steady_clock::now() + kRestWait;
  do {
    const auto before = applied;
    views = probe_->look(kTimeout);
    applied = applied_by_leader(views);
    // At rest: the same count twice, and every node that answers has caught up.
    if (applied && applied == before && agreeing_with(*applied, views) == views.size()) {
      break;
    }
    std::this_thread::sleep_for(kRestStep);
  } while (std::chrono::steady_clock::now() < deadline);
  if (!applied || *applied < *applied_before_) {
    record.detail = "no leader told its operation count after the run";
    return {};
  }
  const std::uint64_t during = *applied - *applied_before_;
  record.applied = during;
  record.missing = record.acknowledged > during ? record.acknowledged - during : 0;
  const Verdict verdict{.missing = *record.missing, .replicas_differ = differ(views)};
  const std::string books = fmt::format("{} acknowledged, {} unknown, {} applied",
                                        record.acknowledged, record.unknown, during);
  const std::uint64_t most = record.acknowledged + record.unknown;
  const std::size_t agreeing = agreeing_with(*applied, views);
  if (verdict.missing > 0) {
    record.status = "failed";
    record.detail = fmt::format("{} missing: {}", verdict.missing, books);
  } else if (verdict.replicas_differ) {
    record.status = "failed";
    record.detail = "replicas that applied equally many operations hold different states";
  } else if (during > most) {
    record.status = "failed";
    record.detail = fmt::format("{} more than were sent: {}", during - most, books);
  } else {
    record.status = "passed";
    record.detail = fmt::format("{}; {}/{} nodes agree", books, agreeing, views.size());
  }
  return verdict;
}

}  // namespace raftperf::run
