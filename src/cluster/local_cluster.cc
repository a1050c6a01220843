// SPDX-License-Identifier: Apache-2.0
#include "cluster/local_cluster.h"

#include <fmt/format.h>

#include <csignal>
#include <ctime>
#include <system_error>

#include "base/check.h"
#include "cluster/cluster_start.h"

namespace raftperf::cluster {
namespace {

using std::chrono::nanoseconds;

constexpr std::chrono::milliseconds kKillPatience{2000};

std::optional<nanoseconds> process_cpu_time(pid_t pid) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0) {
    return std::nullopt;
  }
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

}  // namespace

Result<std::unique_ptr<LocalCluster>> LocalCluster::up(const SystemDescriptor& system,
                                                       const ClusterOptions& options,
                                                       EventLog& log) {
  CHECK(options.state.path.is_absolute());
  return ClusterStart(system, options, log).run();
}

Result<std::unique_ptr<LocalCluster>> LocalCluster::attach(const std::string& system,
                                                           const StateDirectory& state,
                                                           EventLog& log) {
  auto read = read_cluster_state(state.kept(system));
  if (!read) {
    return Error{read.error()};
  }
  if (!*read) {
    return Error{
        fmt::format("no cluster of {} is up; `raftperf cluster up {}` starts one", system, system)};
  }
  ClusterOptions options;
  options.lifetime = ClusterOptions::Lifetime::kUntilDown;
  options.state = state;
  std::unique_ptr<LocalCluster> cluster(new LocalCluster(**std::move(read), options, log));
  const std::scoped_lock lock(cluster->mutex_);
  for (const auto& [node, record] : cluster->state_.records) {
    auto process = Process::adopt(record.identity);
    if (process) {
      Node& entry = cluster->nodes_[static_cast<std::size_t>(node)];
      entry.process.emplace(*std::move(process));
      cluster->watcher_->watch(node, entry.process->group().pidfd());
    }
  }
  return cluster;
}

LocalCluster::LocalCluster(ClusterState state, const ClusterOptions& options, EventLog& log)
    : log_(log),
      options_(options),
      state_(std::move(state)),
      nodes_(static_cast<std::size_t>(state_.nodes)) {
  if (options_.lifetime == ClusterOptions::Lifetime::kUntilDown) {
    options_.logs.reset();  // They stay with the state until `down`.
  }
  watcher_.emplace([this](int node) {
    const std::scoped_lock lock(mutex_);
    note_exit(node);
  });
}

LocalCluster::~LocalCluster() {
  if (options_.lifetime == ClusterOptions::Lifetime::kThisProcess) {
    (void)down();
  }
  watcher_.reset();
}

std::vector<net::Endpoint> LocalCluster::clients() const {
  const std::scoped_lock lock(mutex_);
  std::vector<net::Endpoint> endpoints;
  for (const auto& [node, record] : state_.records) {
    auto endpoint = net::parse_endpoint(record.endpoints.at("client"));
    CHECK(endpoint.ok());
    endpoints.push_back(*std::move(endpoint));
  }
  return endpoints;
}

std::optional<Liveness> LocalCluster::liveness(int node) const {
  const std::scoped_lock lock(mutex_);
  const auto record = state_.records.find(node);
  if (record == state_.records.end() || record->second.identity.pid < 0) {
    return std::nullopt;
  }
  return cluster::liveness(record->second.identity);
}

pid_t LocalCluster::pid(int node) const {
  const std::scoped_lock lock(mutex_);
  const auto record = state_.records.find(node);
  return record == state_.records.end() ? -1 : record->second.identity.pid;
}

std::optional<nanoseconds> LocalCluster::cpu_time(int node) const {
  const std::scoped_lock lock(mutex_);
  const Node& entry = nodes_.at(static_cast<std::size_t>(node));
  if (!entry.process) {
    return std::nullopt;
  }
  const ProcessGroup* group = &entry.process->group();
  std::optional<nanoseconds> sum;
  for (const pid_t pid : living_members({&group, 1})) {
    if (const auto time = process_cpu_time(pid)) {
      sum = sum.value_or(nanoseconds{0}) + *time;
    }
  }
  return sum;
}

std::string LocalCluster::log_of(int node) const { return state_.records.at(node).log.string(); }

void LocalCluster::note_exit(int node) {
  Node& entry = nodes_.at(static_cast<std::size_t>(node));
  if (!entry.process || entry.exit_noted) {
    return;
  }
  const auto status = entry.process->exit_status();
  if (!status) {
    return;  // It has been started again since.
  }
  entry.exit_noted = true;
  log_.record(EventCode::kNodeExited, node,
              fmt::format("pid {} {}", entry.process->identity().pid, to_string(*status)),
              entry.exit_expected ? EventOrigin::kPlanned : EventOrigin::kUnplanned);
}

Result<void> LocalCluster::check_alive(int node, std::string_view verb) const {
  if (node < 0 || node >= state_.nodes) {
    return Error{fmt::format("node {} is not one of the {} nodes; allowed: 0 to {}", node,
                             state_.nodes, state_.nodes - 1)};
  }
  const Node& entry = nodes_[static_cast<std::size_t>(node)];
  if (!entry.process || entry.process->ended()) {
    return Error{fmt::format("node {} cannot be {}: it does not run", node, verb)};
  }
  return {};
}

Result<void> LocalCluster::signal_fault(int node, int number, EventCode code,
                                        std::string_view verb) {
  if (auto alive = check_alive(node, verb); !alive) {
    return alive;
  }
  const Process& process = *nodes_[static_cast<std::size_t>(node)].process;
  // Noted before it is done, so that no consequence can stand above its cause.
  log_.record(code, node, fmt::format("pid {}", process.identity().pid), EventOrigin::kPlanned);
  if (!process.group().signal(number)) {
    return Error{fmt::format("node {} ended before it could be {}", node, verb)};
  }
  return {};
}

Result<void> LocalCluster::stop_node(int node) {
  const std::scoped_lock lock(mutex_);
  return signal_fault(node, SIGSTOP, EventCode::kFaultStop, "stopped");
}

Result<void> LocalCluster::continue_node(int node) {
  const std::scoped_lock lock(mutex_);
  return signal_fault(node, SIGCONT, EventCode::kFaultContinue, "continued");
}

Result<void> LocalCluster::kill_node(int node) {
  const std::scoped_lock lock(mutex_);
  if (auto alive = check_alive(node, "killed"); !alive) {
    return alive;
  }
  Node& entry = nodes_[static_cast<std::size_t>(node)];
  entry.exit_expected = true;
  auto killed = signal_fault(node, SIGKILL, EventCode::kFaultKill, "killed");
  const ProcessGroup* group = &entry.process->group();
  if (killed && !wait_until_gone({&group, 1}, kKillPatience)) {
    return Error{fmt::format("node {} is still alive after SIGKILL", node)};
  }
  note_exit(node);
  return killed;
}

Result<void> LocalCluster::start_node(int node) {
  const std::scoped_lock lock(mutex_);
  if (check_alive(node, "started")) {
    return Error{fmt::format("node {} runs already", node)};
  }
  if (node < 0 || node >= state_.nodes || is_down_) {
    return Error{fmt::format("node {} cannot be started: there is no such node", node)};
  }
  Node& entry = nodes_[static_cast<std::size_t>(node)];
  if (entry.process) {
    note_exit(node);
    const ProcessGroup* group = &entry.process->group();
    (void)stop_groups({&group, 1}, options_.stop_grace);
    if (guard_) {
      guard_->forget(entry.process->identity());
    }
    entry.process->reap();
    entry.process.reset();
  }
  if (auto started = launch(node); !started) {
    return started;
  }
  return await_ready_line({node}, std::chrono::steady_clock::now() + options_.ready_timeout);
}

DownReport LocalCluster::down() {
  if (options_.lifetime == ClusterOptions::Lifetime::kUntilDown && !lock_.valid()) {
    auto lock = options_.state.lock(state_.system);
    if (!lock) {
      DownReport report;
      report.problems.push_back(lock.error());
      return report;
    }
    lock_ = *std::move(lock);
  }
  DownReport report = finish();
  lock_.reset();
  return report;
}

DownReport LocalCluster::finish() {
  DownReport report;
  const std::scoped_lock lock(mutex_);
  if (!is_down_) {
    stop_all(report);
    if (report.problems.empty()) {
      remove_traces(report);
      is_down_ = true;
    }
  }
  return report;
}

void LocalCluster::stop_all(DownReport& report) {
  std::vector<ProcessGroup> leaderless;  // What a process that is gone may have left behind.
  leaderless.reserve(nodes_.size());
  std::vector<const ProcessGroup*> groups;
  std::vector<int> owners;
  for (const auto& [node, record] : state_.records) {
    Node& entry = nodes_[static_cast<std::size_t>(node)];
    note_exit(node);  // One that ended before was not ended by us.
    entry.exit_expected = true;
    if (entry.process) {
      groups.push_back(&entry.process->group());
    } else if (record.identity.pid > 0) {
      groups.push_back(&leaderless.emplace_back(ProcessGroup::leaderless(record.identity)));
    } else {
      continue;
    }
    owners.push_back(node);
  }
  const auto outcomes = stop_groups(groups, options_.stop_grace);
  for (std::size_t i = 0; i < owners.size(); ++i) {
    note_stop(owners[i], outcomes[i], report);
  }
}

void LocalCluster::note_stop(int node, StopOutcome outcome, DownReport& report) {
  Node& entry = nodes_[static_cast<std::size_t>(node)];
  const ProcessIdentity& identity = state_.records.at(node).identity;
  std::string text(to_string(outcome));
  if (outcome == StopOutcome::kAlreadyGone && cluster::liveness(identity) == Liveness::kNotOurs) {
    text = "not ours: another program has its pid now, left alone";
  }
  report.nodes.push_back({.node = node, .pid = identity.pid, .outcome = text});
  if (outcome == StopOutcome::kStillAlive) {
    report.problems.push_back(fmt::format("node {} (pid {}) is {}", node, identity.pid, text));
    return;
  }
  log_.record(EventCode::kNodeStopped, node, text, EventOrigin::kPlanned);
  entry.exit_noted = true;
  if (entry.process) {
    entry.process->reap();
  }
}

void LocalCluster::remove_traces(DownReport& report) {
  const auto remove = [&](const std::filesystem::path& directory) {
    std::error_code code;
    if (!std::filesystem::exists(directory, code)) {
      return;
    }
    if (auto removed = remove_tree(directory); removed) {
      report.removed.push_back(directory);
    } else {
      report.problems.push_back(removed.error());
    }
  };
  remove(state_.data_root);
  if (options_.logs) {
    std::error_code code;
    std::filesystem::remove(state_.directory / "cluster.json", code);
    for (const auto& [node, record] : state_.records) {
      std::filesystem::remove(state_.pid_file(node), code);
    }
  } else {
    remove(state_.directory);
  }
  if (guard_) {
    guard_->release();
    guard_.reset();
  }
}

}  // namespace raftperf::cluster
