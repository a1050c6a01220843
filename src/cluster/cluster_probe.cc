// SPDX-License-Identifier: Apache-2.0
#include "cluster/cluster_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "base/check.h"

namespace raftperf::cluster {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kRequestTimeout{500};
constexpr std::chrono::milliseconds kLookInterval{20};

}  // namespace

NodeView::Contact contact_after_error(std::chrono::nanoseconds taken,
                                      std::chrono::milliseconds timeout) {
  return taken >= timeout ? NodeView::Contact::kSilent : NodeView::Contact::kGone;
}

Result<ClusterProbe> ClusterProbe::create(std::string_view protocol,
                                          const std::vector<net::Endpoint>& clients) {
  std::vector<std::unique_ptr<StatusProbe>> probes;
  for (const net::Endpoint& client : clients) {
    auto probe = make_probe(protocol, client);
    if (!probe) {
      return Error{probe.error()};
    }
    probes.push_back(*std::move(probe));
  }
  return ClusterProbe(std::move(probes));
}

std::vector<NodeView> ClusterProbe::look(Timeout timeout) {
  std::vector<NodeView> views;
  for (std::size_t i = 0; i < probes_.size(); ++i) {
    const auto asked = Clock::now();
    auto status = probes_[i]->status(timeout);
    if (status) {
      problems_[i].clear();
      views.push_back(NodeView{.contact = NodeView::Contact::kAnswers, .last = *status});
    } else {
      problems_[i] = status.error();
      views.push_back(
          NodeView{.contact = contact_after_error(Clock::now() - asked, timeout), .last = {}});
    }
  }
  return views;
}

const std::string& ClusterProbe::problem(int node) const {
  return problems_.at(static_cast<std::size_t>(node));
}

Result<void> ClusterProbe::write(Timeout timeout) {
  const LeaderView view = decide_leader(look(timeout));
  if (view.leader < 0) {
    return Error{"no node is known to lead"};
  }
  return probes_[static_cast<std::size_t>(view.leader)]->write(timeout);
}

Result<void> ClusterProbe::transfer_leader(int node, Timeout timeout) {
  if (node < 0 || static_cast<std::size_t>(node) >= probes_.size()) {
    return Error{fmt::format("node {} is not one of the {} nodes; allowed: 0 to {}", node,
                             probes_.size(), probes_.size() - 1)};
  }
  const auto deadline = Clock::now() + timeout;
  LeaderView asked;
  std::string problem = "no node is known to lead";
  while (Clock::now() < deadline) {
    const LeaderView view = decide_leader(look(std::min(timeout, kRequestTimeout)));
    if (view.leader == node) {
      return {};
    }
    // One request per leader and term: a second would find the first one under way.
    if (view.leader >= 0 && view != asked) {
      auto begun = probes_[static_cast<std::size_t>(view.leader)]->transfer_leader(
          node, std::min(timeout, kRequestTimeout));
      problem = begun ? fmt::format("node {} still leads", view.leader) : begun.error();
      asked = begun ? view : LeaderView{};
    }
    // There is no event to wait for: the node is asked again until it leads.
    std::this_thread::sleep_until(std::min(deadline, Clock::now() + kLookInterval));
  }
  return Error{fmt::format("the leader did not move to node {} within {} ms: {}", node,
                           timeout.count(), problem)};
}

}  // namespace raftperf::cluster
