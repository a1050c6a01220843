// SPDX-License-Identifier: Apache-2.0
#include "cluster/monitor.h"

#include <fmt/format.h>

#include "cluster/cluster_probe.h"

namespace raftperf::cluster {
namespace {

using Clock = std::chrono::steady_clock;
using Contact = NodeView::Contact;

constexpr unsigned kLeaderBits = 16;

std::uint64_t pack(const LeaderView& view) {
  return (view.term << kLeaderBits) | static_cast<std::uint16_t>(view.leader + 1);
}

LeaderView unpack(std::uint64_t packed) {
  return LeaderView{.leader = static_cast<int>(packed & ((1U << kLeaderBits) - 1)) - 1,
                    .term = packed >> kLeaderBits};
}

}  // namespace

Result<std::unique_ptr<Monitor>> Monitor::start(std::string_view protocol,
                                                const std::vector<net::Endpoint>& clients,
                                                EventLog& log, const Options& options) {
  std::vector<std::unique_ptr<StatusProbe>> probes;
  for (const net::Endpoint& client : clients) {
    auto probe = make_probe(protocol, client);
    if (!probe) {
      return Error{probe.error()};
    }
    probes.push_back(*std::move(probe));
  }
  return std::unique_ptr<Monitor>(new Monitor(std::move(probes), log, options));
}

Monitor::Monitor(std::vector<std::unique_ptr<StatusProbe>> probes, EventLog& log,
                 const Options& options)
    : options_(options), log_(log), probes_(std::move(probes)), views_(probes_.size()) {
  for (std::size_t node = 0; node < probes_.size(); ++node) {
    threads_.emplace_back([this, node] { watch_node(node); });
  }
}

Monitor::~Monitor() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

LeaderView Monitor::current_leader() const noexcept { return unpack(packed_leader_.load()); }

std::vector<NodeView> Monitor::nodes() const {
  const std::scoped_lock lock(mutex_);
  return views_;
}

std::optional<LeaderView> Monitor::wait_for_leader(std::chrono::milliseconds timeout) const {
  std::unique_lock lock(mutex_);
  const bool there =
      changed_.wait_until(lock, Clock::now() + timeout, [this] { return published_.leader >= 0; });
  return there ? std::optional<LeaderView>(published_) : std::nullopt;
}

void Monitor::watch_node(std::size_t node) {
  auto due = Clock::now();
  while (true) {
    std::string problem;
    const NodeView fresh = ask(node, problem);
    note(node, fresh, problem);
    // A slow answer skips turns rather than being made up for by a burst.
    due = std::max(due + options_.interval, Clock::now());
    std::unique_lock lock(mutex_);
    if (changed_.wait_until(lock, due, [this] { return stopping_; })) {
      return;
    }
  }
}

NodeView Monitor::ask(std::size_t node, std::string& problem) {
  const auto asked = Clock::now();
  auto status = probes_[node]->status(options_.timeout);
  if (status) {
    return NodeView{.contact = Contact::kAnswers, .last = *status};
  }
  problem = status.error();
  return NodeView{.contact = contact_after_error(Clock::now() - asked, options_.timeout),
                  .last = {}};
}

void Monitor::note(std::size_t node, const NodeView& fresh, const std::string& problem) {
  const std::scoped_lock lock(mutex_);
  NodeView& view = views_[node];
  const bool answered = view.contact == Contact::kAnswers || view.contact == Contact::kUnknown;
  const bool answers = fresh.contact == Contact::kAnswers;
  if (answered && !answers) {
    log_.record(EventCode::kNotReachable, static_cast<int>(node), problem);
  } else if (!answered && answers) {
    log_.record(EventCode::kReachable, static_cast<int>(node), "answers again");
  }
  view.contact = fresh.contact;
  if (fresh.last) {
    view.last = fresh.last;
  }
  publish(decide_leader(views_));
}

void Monitor::publish(const LeaderView& view) {
  if (view == published_) {
    return;
  }
  if (view.leader >= 0) {
    if (last_leader_ && last_leader_->leader != view.leader) {
      changes_.fetch_add(1);
      log_.record(EventCode::kLeaderChanged, view.leader,
                  fmt::format("node {} -> node {}", last_leader_->leader, view.leader));
    }
    if (last_leader_ && last_leader_->term != view.term) {
      log_.record(EventCode::kTermChanged, view.leader,
                  fmt::format("term {} -> {}", last_leader_->term, view.term));
    }
    last_leader_ = view;
  } else if (published_.leader >= 0) {
    log_.record(EventCode::kLeaderLost, published_.leader,
                fmt::format("nobody is known to lead; the highest term is {}", view.term));
  }
  published_ = view;
  packed_leader_.store(pack(view));
  changed_.notify_all();
}

}  // namespace raftperf::cluster
