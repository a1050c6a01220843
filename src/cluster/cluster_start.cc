// SPDX-License-Identifier: Apache-2.0
#include "cluster/cluster_start.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <ctime>
#include <system_error>
#include <thread>

#include "cluster/abandoned.h"
#include "cluster/cluster_probe.h"
#include "cluster/node_log.h"
#include "cluster/port_owner.h"
#include "cluster/start_command.h"
#include "cluster/system_catalogue.h"

namespace raftperf::cluster {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kNodesMax = 99;
constexpr int kLogLines = 10;
constexpr std::chrono::milliseconds kRequestTimeout{500};
constexpr std::chrono::milliseconds kLookInterval{20};

bool is_kept(const ClusterOptions& options) {
  return options.lifetime == ClusterOptions::Lifetime::kUntilDown;
}

fs::path data_root(const SystemDescriptor& system, const ClusterOptions& options,
                   const ClusterState& state, DataMedium medium) {
  if (options.data_parent) {
    return fs::absolute(*options.data_parent) /
           fmt::format("raftperf-{}", token_text(state.run_token));
  }
  if (medium == DataMedium::kTmpfs) {
    return fmt::format("/dev/shm/raftperf-{}-{}", ::getuid(), token_text(state.run_token));
  }
  return options.state.data(system.name, state.run_token);
}

fs::path run_directory(const ClusterOptions& options, const ClusterState& state) {
  if (is_kept(options)) {
    return options.state.kept(state.system);
  }
  return options.logs ? fs::absolute(*options.logs) : options.state.run(state.run_token);
}

}  // namespace

Result<std::unique_ptr<LocalCluster>> ClusterStart::run() {
  deadline_ = Clock::now() + options_.ready_timeout;
  for (const auto step : {&ClusterStart::plan, &ClusterStart::clear_way, &ClusterStart::prepare,
                          &ClusterStart::launch, &ClusterStart::await_commit}) {
    if (auto done = (this->*step)(); !done) {
      if (cluster_) {
        (void)cluster_->down();
      }
      return Error{done.error()};
    }
  }
  for (int node = 0; node < state_.nodes; ++node) {
    log_.record(EventCode::kNodeReady, node, "", EventOrigin::kPlanned);
  }
  if (is_kept(options_)) {
    cluster_->guard_->release();
    cluster_->guard_.reset();
    cluster_->lock_.reset();
  }
  return std::move(cluster_);
}

Result<void> ClusterStart::plan() {
  if (options_.nodes < 1 || options_.nodes > kNodesMax) {
    return Error{
        fmt::format("nodes = {} is not allowed; 1 to {} are, e.g. 3", options_.nodes, kNodesMax)};
  }
  auto durability = resolve_durability(system_, options_.durability);
  auto knobs = resolve_knobs(system_, options_.knobs);
  auto layout = ClusterLayout::on_loopback(system_, options_.nodes, options_.port_base);
  if (!durability || !knobs || !layout) {
    return Error{!durability ? durability.error() : !knobs ? knobs.error() : layout.error()};
  }
  const Availability found = find_executable(system_, options_.build);
  if (!found.built) {
    return Error{fmt::format("{}: {}", system_.name, found.remedy)};
  }
  if (auto probe = ClusterProbe::create(system_.protocol, layout->clients()); !probe) {
    return Error{fmt::format("{}: {}", system_.name, probe.error())};
  }
  layout_ = *std::move(layout);
  state_.system = system_.name;
  state_.protocol = system_.protocol;
  state_.durability = *durability;
  state_.knobs = *knobs;
  state_.run_token = options_.run_token != 0 ? options_.run_token : new_run_token();
  state_.nodes = options_.nodes;
  state_.started_utc = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  state_.directory = run_directory(options_, state_);
  state_.data_root =
      data_root(system_, options_, state_, system_.durability.at(*durability).medium);
  const StartContext context{.system = system_,
                             .layout = *layout_,
                             .executable = found.executable,
                             .build = fs::absolute(options_.build),
                             .durability = *durability,
                             .knobs = *knobs,
                             .run_token = state_.run_token};
  for (int node = 0; node < state_.nodes; ++node) {
    NodeRecord& record = state_.records[node];
    record.node = node;
    record.log = state_.directory / fmt::format("node{}.log", node);
    record.data_directory = state_.data_root / fmt::format("node{}", node);
    for (const std::string& port : layout_->port_names()) {
      record.endpoints[port] = net::to_string(layout_->endpoint(port, node));
    }
    auto command = start_command(context, node, record.data_directory);
    if (!command) {
      return Error{fmt::format("{}: {}", system_.name, command.error())};
    }
    record.command = std::move(command->arguments);
    record.environment = std::move(command->environment);
  }
  return {};
}

Result<void> ClusterStart::clear_way() {
  if (is_kept(options_)) {
    auto lock = options_.state.lock(system_.name);
    if (!lock) {
      return Error{lock.error()};
    }
    lock_ = *std::move(lock);
    if (auto cleared = clear_kept(); !cleared) {
      return cleared;
    }
  }
  for (const fs::path& parent :
       {fs::path("/dev/shm"), options_.state.path / "data", options_.state.path / "runs"}) {
    for (const fs::path& directory : remove_abandoned(parent, options_.state)) {
      log_.record(EventCode::kNote, std::nullopt,
                  fmt::format("removed {}, which a killed run had left", directory.string()));
    }
  }
  for (const std::string& port : layout_->port_names()) {
    for (int node = 0; node < state_.nodes; ++node) {
      const net::Endpoint& endpoint = layout_->endpoint(port, node);
      if (!port_is_free(endpoint.host, endpoint.port)) {
        return port_taken(port, node);
      }
    }
  }
  return {};
}

Result<void> ClusterStart::clear_kept() {
  auto earlier = read_cluster_state(state_.directory);
  if (!earlier) {
    return Error{earlier.error()};
  }
  if (!*earlier) {
    return {};
  }
  int running = 0;
  for (const auto& [node, record] : (*earlier)->records) {
    running += liveness(record.identity) == Liveness::kRunning ? 1 : 0;
  }
  if (running > 0) {
    return Error{fmt::format(
        "{} is already up: {} of its {} nodes run since {}; `raftperf cluster down {}` ends it",
        system_.name, running, (*earlier)->nodes, (*earlier)->started_utc, system_.name)};
  }
  EventLog unrelated;  // The end of those nodes is no event of the cluster to be started.
  const DownReport report = LocalCluster(**earlier, options_, unrelated).finish();
  if (!report.problems.empty()) {
    return Error{report.problems.front()};
  }
  log_.record(EventCode::kNote, std::nullopt,
              fmt::format("cleaned up behind the cluster of {}, whose nodes have all ended",
                          (*earlier)->started_utc));
  return {};
}

Error ClusterStart::port_taken(const std::string& port, int node) const {
  const std::uint16_t number = layout_->endpoint(port, node).port;
  const std::string what = fmt::format("port {} ('{}' of node {}) is taken", number, port, node);
  const auto owner = find_port_owner(number);
  if (!owner || owner->pid < 0) {
    return Error{
        fmt::format("{} by a program that cannot be seen from here (another user's, or "
                    "in another container); choose another port base",
                    what)};
  }
  const std::string by = fmt::format("{} by pid {} ({})", what, owner->pid, owner->command);
  if (!owner->run_token) {
    return Error{fmt::format("{}; stop that program or choose another port base", by)};
  }
  for (const ClusterState& kept : kept_clusters(options_.state)) {
    if (kept.run_token == *owner->run_token) {
      return Error{
          fmt::format("{}, of the cluster of {} that is up since {}; `raftperf cluster "
                      "down {}` ends it",
                      by, kept.system, kept.started_utc, kept.system)};
    }
  }
  return Error{
      fmt::format("{}, a server that another raftperf started and that ends with it; "
                  "choose another port base meanwhile",
                  by)};
}

Result<void> ClusterStart::prepare() {
  std::error_code code;
  if (fs::exists(state_.data_root, code)) {
    return Error{fmt::format("{} is there already: is the run token used twice?",
                             state_.data_root.string())};
  }
  auto guard = Guard::start(options_.guard_arguments);
  if (!guard) {
    return Error{guard.error()};
  }
  cluster_.reset(new LocalCluster(state_, options_, log_));
  cluster_->lock_ = std::move(lock_);
  cluster_->guard_.emplace(*std::move(guard));
  // The guard first: being killed between the two lines must leave nothing behind.
  auto told = cluster_->guard_->watch(state_.data_root);
  if (told && !cluster_->options_.logs) {
    told = cluster_->guard_->watch(state_.directory);
  }
  if (!told) {
    return told;
  }
  fs::create_directories(state_.directory, code);
  if (code) {
    return Error{fmt::format("{}: {}", state_.directory.string(), code.message())};
  }
  const DataMedium medium = system_.durability.at(state_.durability).medium;
  auto ready = create_data_directory(state_.data_root, medium);
  if (ready) {
    ready = claim_directory(state_.data_root);
  }
  if (ready && !is_kept(options_) && !options_.logs) {
    ready = claim_directory(state_.directory);
  }
  if (!ready) {
    return ready;
  }
  for (const auto& [node, record] : state_.records) {
    std::error_code ignored;
    fs::remove(record.log, ignored);  // Of an earlier run in the same directory.
    fs::create_directory(record.data_directory, code);
    if (code) {
      return Error{fmt::format("{}: {}", record.data_directory.string(), code.message())};
    }
  }
  return write_cluster_state(state_);
}

Result<void> ClusterStart::launch() {
  std::vector<int> all;
  const std::scoped_lock lock(cluster_->mutex_);
  for (int node = 0; node < state_.nodes; ++node) {
    if (auto started = cluster_->launch(node); !started) {
      return Error{fmt::format("node {} of {}: {}", node, system_.name, started.error())};
    }
    all.push_back(node);
  }
  return cluster_->await_ready_line(all, deadline_);
}

Error ClusterStart::with_log(const std::string& reason, int node) const {
  return Error{fmt::format("{}; the last lines of its log:\n{}", reason,
                           log_tail(state_.records.at(node).log, kLogLines))};
}

Error ClusterStart::describe_silence(const std::string& reason, int node) const {
  return with_log(
      fmt::format("{} did not become ready within {} s: {}", system_.name,
                  std::chrono::ceil<std::chrono::seconds>(options_.ready_timeout).count(), reason),
      node);
}

Result<void> ClusterStart::await_commit() {
  auto probe = ClusterProbe::create(system_.protocol, layout_->clients());
  CHECK(probe.ok());
  while (true) {
    {
      const std::scoped_lock lock(cluster_->mutex_);
      if (auto running = cluster_->check_running(); !running) {
        return running;
      }
    }
    const std::vector<NodeView> views = probe->look(kRequestTimeout);
    int silent = -1;
    for (int node = 0; node < state_.nodes; ++node) {
      const auto& last = views[static_cast<std::size_t>(node)].last;
      if (last && last->run_token && *last->run_token != state_.run_token) {
        return Error{
            fmt::format("node {} at {} answers with another run token than ours: another "
                        "server serves that port",
                        node, net::to_string(layout_->endpoint("client", node)))};
      }
      silent = last ? silent : node;
    }
    std::string problem = silent >= 0 ? probe->problem(silent) : "";
    if (silent < 0) {
      const auto written = probe->write(kRequestTimeout);
      if (written) {
        return {};
      }
      problem = written.error();
    }
    if (Clock::now() >= deadline_) {
      return describe_silence(problem, std::max(0, silent));
    }
    // An election has no event to wait for: the nodes are asked again until one leads.
    std::this_thread::sleep_for(kLookInterval);
  }
}

}  // namespace raftperf::cluster
