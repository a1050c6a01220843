// SPDX-License-Identifier: Apache-2.0
#include "run/session.h"

#include <fmt/format.h>

#include "cluster/cluster_probe.h"
#include "cluster/local_cluster.h"
#include "cluster/monitor.h"
#include "record/environment.h"
#include "run/floor.h"
#include "run/session_outputs.h"
#include "run/verification.h"

#ifndef RAFTPERF_VERSION
#define RAFTPERF_VERSION "unknown"
#endif

namespace raftperf::run {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kLeaderWait = 15s;
constexpr std::chrono::milliseconds kLeaderStep = 100ms;
constexpr std::chrono::milliseconds kTransferWait = 5s;

/// CPU time at one end of the window.
struct CpuReading {
  std::optional<record::MachineCpu> machine;
  std::vector<std::optional<std::chrono::nanoseconds>> servers;
  std::chrono::steady_clock::time_point at;
};

class Session {
 public:
  Session(const SessionOptions& options, Signals& signals, const SessionCallbacks& callbacks)
      : options_(options), plan_(options.plan), signals_(signals), callbacks_(callbacks) {}

  SessionResult run() {
    SessionResult result;
    result.error = measure();
    if (result.error) {
      if (outputs_) {
        outputs_->discard();
      }
    } else {
      result.folder = outputs_->finish(record_);
    }
    stop_cluster();
    result.record = std::move(record_);
    return result;
  }

 private:
  using Failure = std::optional<SessionError>;

  static Failure usage(const std::string& message) {
    return SessionError{SessionFailure::kUsage, message};
  }
  static Failure no_cluster(const std::string& message) {
    return SessionError{SessionFailure::kCluster, message};
  }

  Failure measure() {
    if (const auto checked = check(plan_); !checked) {
      return usage(checked.error());
    }
    auto outputs = SessionOutputs::create(options_, [this](const auto& text) { notice(text); });
    if (!outputs) {
      return usage(outputs.error());
    }
    outputs_ = *std::move(outputs);
    auto factory = drivers::find_driver(options_.protocol, options_.plugin_dir);
    if (!factory) {
      return usage(factory.error());
    }
    if (!options_.stub_program.empty()) {
      record_.floor = measure_floor(plan_, **factory, options_.stub_program);
    }
    if (auto failure = bring_cluster_up()) {
      return failure;
    }
    if (auto failure = place_leader()) {
      return failure;
    }
    std::optional<Verification> verification;
    if (options_.verify && has_cluster_) {
      verification = Verification::begin(options_.protocol, plan_.driver.nodes);
    }
    return execute_and_judge(**factory, verification);
  }

  Failure bring_cluster_up() {
    if (!options_.local) {
      return std::nullopt;
    }
    notice(fmt::format("starting {} node{} of {} on this machine", options_.cluster.nodes,
                       options_.cluster.nodes == 1 ? "" : "s", options_.system));
    cluster::ClusterOptions cluster_options = options_.cluster;
    cluster_options.interrupted = [this] { return signals_.stopping(); };
    auto cluster = cluster::LocalCluster::up(*options_.local, cluster_options, events_);
    if (!cluster) {
      return no_cluster(cluster.error());
    }
    cluster_ = *std::move(cluster);
    plan_.driver.nodes = cluster_->clients();
    for (int node = 0; node < cluster_->nodes(); ++node) {
      notice(fmt::format("node{} is pid {} on {}", node, cluster_->pid(node),
                         to_string(plan_.driver.nodes[static_cast<std::size_t>(node)])));
    }
    return std::nullopt;
  }

  Failure place_leader() {
    if (plan_.driver.nodes.empty()) {  // the driver has no cluster: sim
      plan_.driver.nodes.resize(1);
      plan_.leader = 0;
      has_cluster_ = false;
      return std::nullopt;
    }
    auto monitor = cluster::Monitor::start(options_.protocol, plan_.driver.nodes, events_, {});
    if (!monitor) {
      notice("the cluster is not watched: " + monitor.error());
      return std::nullopt;
    }
    monitor_ = *std::move(monitor);
    auto leader = wait_for_leader();
    if (!leader) {
      return no_cluster(describe_no_leader());
    }
    if (options_.leader_wanted && leader->leader != *options_.leader_wanted) {
      move_leader(*options_.leader_wanted);
      leader = monitor_->current_leader();
    }
    plan_.leader = leader->leader;
    record_.cluster.leader_at_start = leader->leader;
    record_.cluster.term_at_start = leader->term;
    return std::nullopt;
  }

  /// In steps, so that an interrupted run does not sit it out.
  std::optional<cluster::LeaderView> wait_for_leader() {
    const auto deadline = std::chrono::steady_clock::now() + kLeaderWait;
    auto leader = monitor_->wait_for_leader(kLeaderStep);
    while (!leader && !signals_.stopping() && std::chrono::steady_clock::now() < deadline) {
      leader = monitor_->wait_for_leader(kLeaderStep);
    }
    return leader;
  }

  [[nodiscard]] std::string describe_no_leader() const {
    std::string text = fmt::format("no leader within {} s", kLeaderWait.count() / 1000);
    auto probe = cluster::ClusterProbe::create(options_.protocol, plan_.driver.nodes);
    if (!probe) {
      return text;
    }
    const auto views = probe->look(1000ms);
    for (std::size_t node = 0; node < views.size(); ++node) {
      const bool answers = views[node].contact == cluster::NodeView::Contact::kAnswers;
      text += fmt::format(
          "; node{}: {}", node,
          answers ? "answers, and knows no leader" : probe->problem(static_cast<int>(node)));
    }
    return text;
  }

  void move_leader(int wanted) {
    auto probe = cluster::ClusterProbe::create(options_.protocol, plan_.driver.nodes);
    const cluster::EventLog::PlannedScope planned(events_);
    const Result<void> moved =
        probe ? probe->transfer_leader(wanted, kTransferWait) : Result<void>(Error{probe.error()});
    if (!moved) {
      notice(fmt::format("the leader was not moved to node{}: {}", wanted, moved.error()));
      return;
    }
    // The monitor must have seen it before the run, else it would count as a change in it.
    const auto deadline = std::chrono::steady_clock::now() + kTransferWait;
    while (monitor_->current_leader().leader != wanted &&
           std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(10ms);
    }
  }

  Failure execute_and_judge(const drivers::DriverFactory& factory,
                            std::optional<Verification>& verification) {
    changes_before_ = monitor_ ? monitor_->leader_changes() : 0;
    plan_.driver.settings = options_.plan.driver.settings;
    ObserverCallbacks observed{.second = [this](const SecondReport& s) { outputs_->on_second(s); },
                               .progress = callbacks_.progress,
                               .window_started = [this] { on_window_start(); },
                               .window_ended = [this] { window_end_cpu_ = read_cpu(); },
                               .sampled = [this] { pass_leader_on(); }};
    auto result = execute(plan_, factory, signals_, observed);
    if (!result) {
      return no_cluster(result.error());
    }
    load::Surroundings surroundings = describe_surroundings(*result);
    record_.verification.acknowledged = result->summary.acknowledged;
    record_.verification.unknown = result->summary.unknown;
    if (verification) {
      const auto verdict = verification->finish(record_.verification);
      surroundings.acknowledged_missing = verdict.missing;
      surroundings.replicas_differ = verdict.replicas_differ;
    } else {
      record_.verification.status = "not_done";
      record_.verification.detail = options_.verify ? "no cluster to ask" : "switched off";
    }
    record_.take(result->summary, judge_rig(result->summary, surroundings),
                 judge_load(result->summary, surroundings));
    describe(*result);
    outputs_->write_distribution(result->summary);
    return std::nullopt;
  }

  void pass_leader_on() {
    if (monitor_) {
      const cluster::LeaderView leader = monitor_->current_leader();
      signals_.tell_leader(leader.leader, leader.term);
    }
  }

  void on_window_start() {
    outputs_->on_window_start();
    window_start_cpu_ = read_cpu();
  }

  CpuReading read_cpu() const {
    CpuReading reading{.machine = record::machine_cpu(), .servers = {}, .at = {}};
    for (int node = 0; cluster_ && node < cluster_->nodes(); ++node) {
      reading.servers.push_back(cluster_->cpu_time(node));
    }
    reading.at = std::chrono::steady_clock::now();
    return reading;
  }

  load::Surroundings describe_surroundings(const RunResult& result) {
    load::Surroundings surroundings;
    surroundings.steal_share =
        record::steal_share(window_start_cpu_.machine, window_end_cpu_.machine);
    const double seconds =
        std::chrono::duration<double>(window_end_cpu_.at - window_start_cpu_.at).count();
    for (std::size_t i = 0; i < window_start_cpu_.servers.size(); ++i) {
      const auto& from = window_start_cpu_.servers[i];
      const auto& to = i < window_end_cpu_.servers.size() ? window_end_cpu_.servers[i] : from;
      std::optional<double> share;
      if (from && to && seconds > 0) {
        share = std::chrono::duration<double>(*to - *from).count() / seconds;
        surroundings.servers_cpu_share =
            std::max(surroundings.servers_cpu_share.value_or(0), *share);
      }
      record_.cluster.server_cpu_share.push_back(share);
    }
    describe_leader(surroundings);
    describe_events(result, surroundings);
    return surroundings;
  }

  void describe_leader(load::Surroundings& surroundings) {
    if (!monitor_) {
      return;
    }
    const cluster::LeaderView leader = monitor_->current_leader();
    if (leader.leader >= 0) {
      record_.cluster.leader_at_end = leader.leader;
    }
    record_.cluster.term_at_end = leader.term;
    record_.cluster.leader_changes = monitor_->leader_changes() - changes_before_;
    surroundings.leader_changes_unplanned = record_.cluster.leader_changes;
    surroundings.leader_elsewhere =
        options_.leader_wanted && record_.cluster.leader_at_start != options_.leader_wanted;
  }

  void describe_events(const RunResult& result, load::Surroundings& surroundings) {
    for (const cluster::Event& event : events_.events()) {
      const bool planned = event.origin == cluster::EventOrigin::kPlanned;
      record_.cluster.events.push_back(
          {.at_s = std::chrono::duration<double>(event.utc - result.window_start_utc).count(),
           .node = event.node,
           .code = std::string(to_string(event.code)),
           .detail = event.detail,
           .planned = planned});
      if (event.code == cluster::EventCode::kNodeExited && !planned) {
        ++surroundings.nodes_exited_unplanned;
      }
    }
  }

  void describe(const RunResult& result) {
    record_.raftperf_version = RAFTPERF_VERSION;
    record_.system = options_.system;
    record_.driver = options_.protocol;
    record_.profile = options_.profile;
    record_.durability = options_.durability;
    record_.options = options_.options;
    if (result.request_bytes > 0) {
      record_.request_bytes = result.request_bytes;
    }
    record_.window.start_utc = record::utc_text(result.window_start_utc);
    record_.window.drain_s =
        std::chrono::duration<double>(std::max(plan_.drain, plan_.timeout)).count();
    describe_client(result);
    if (has_cluster_) {
      for (const net::Endpoint& node : plan_.driver.nodes) {
        record_.cluster.nodes.push_back(to_string(node));
      }
    }
    record_.cluster.placement = placement();
    record_.environment = record::capture_environment();
    const auto busy = record::busy_share(window_start_cpu_.machine, window_end_cpu_.machine);
    record_.environment["cpu"]["busy_share_in_window"] =
        busy ? record::Json(*busy) : record::Json(nullptr);
  }

  [[nodiscard]] std::string placement() const {
    if (!has_cluster_) {
      return "in this process";
    }
    if (options_.servers_here == 0) {
      return "on other machines than the client";
    }
    if (options_.servers_here == plan_.driver.nodes.size()) {
      return "sharing this machine with the client";
    }
    return fmt::format("{} of them sharing this machine with the client", options_.servers_here);
  }

  void describe_client(const RunResult& result) {
    record::ClientRecord& client = record_.client;
    client.workers = plan_.workers;
    client.pace = result.pace;
    load::Duration cpu_time{0};
    for (const load::Duration each : result.worker_cpu_time) {
      cpu_time += each;
    }
    const std::uint64_t operations =
        result.summary.acknowledged + result.summary.rejected + result.summary.unknown;
    if (operations > 0) {
      client.cpu_us_per_operation = std::chrono::duration<double, std::micro>(cpu_time).count() /
                                    static_cast<double>(operations);
    }
    const drivers::TransportStats& transport = result.transport;
    client.connections_asked = transport.connections_asked;
    client.connections_at_start = result.connections_at_start;
    client.connections_at_end = transport.connections_live;
    client.protocol_errors = transport.protocol_errors;
    if (transport.sends > 0) {
      client.frames_per_send =
          static_cast<double>(transport.frames_sent) / static_cast<double>(transport.sends);
    }
    if (transport.receives > 0) {
      client.frames_per_receive =
          static_cast<double>(transport.frames_received) / static_cast<double>(transport.receives);
    }
  }

  void stop_cluster() {
    monitor_.reset();
    if (!cluster_) {
      return;
    }
    const cluster::DownReport report = cluster_->down();
    for (const std::string& problem : report.problems) {
      notice("clean-up: " + problem);
    }
  }

  void notice(const std::string& text) {
    if (callbacks_.notice) {
      callbacks_.notice(text);
    }
  }

  const SessionOptions& options_;
  RunPlan plan_;
  Signals& signals_;
  const SessionCallbacks& callbacks_;
  cluster::EventLog events_;
  std::optional<SessionOutputs> outputs_;
  std::unique_ptr<cluster::LocalCluster> cluster_;
  std::unique_ptr<cluster::Monitor> monitor_;
  bool has_cluster_ = true;
  std::uint64_t changes_before_ = 0;
  CpuReading window_start_cpu_;
  CpuReading window_end_cpu_;
  record::RunRecord record_;
};

}  // namespace

SessionResult run_session(const SessionOptions& options, Signals& signals,
                          const SessionCallbacks& callbacks) {
  return Session(options, signals, callbacks).run();
}

}  // namespace raftperf::run
