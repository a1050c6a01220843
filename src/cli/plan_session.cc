// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/nearest.h"
#include "base/units.h"
#include "cli/run_command.h"
#include "cluster/state_directory.h"
#include "cluster/system_catalogue.h"
#include "drivers/sim/sim_driver.h"
#include "net/socket.h"

namespace raftperf::cli {
namespace {

constexpr std::string_view kSim = "sim";
constexpr std::uint64_t kInFlightMin = 1000;

using Descriptor = cluster::SystemDescriptor;

load::OperationKind kind_of(Descriptor::Operation operation) {
  switch (operation) {
    case Descriptor::Operation::kCompareAndSet:
      return load::OperationKind::kCompareAndSet;
    case Descriptor::Operation::kAppend:
      return load::OperationKind::kAppend;
    case Descriptor::Operation::kSet:
      return load::OperationKind::kSet;
    case Descriptor::Operation::kEcho:
      return load::OperationKind::kEcho;
  }
  return load::OperationKind::kAppend;
}

/// "a=1,b=2s:1s;3s:1s" -> settings. A `;` in a value stands for a comma.
Result<std::map<std::string, std::string>> parse_settings(std::string_view text) {
  std::map<std::string, std::string> settings;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    const std::size_t equals = one.find('=');
    if (equals == 0 || equals == std::string_view::npos) {
      return Error{
          fmt::format("--set '{}': KEY=VALUE, separated by commas; example: "
                      "election_timeout=500ms",
                      one)};
    }
    std::string value(one.substr(equals + 1));
    std::replace(value.begin(), value.end(), ';', ',');
    settings[std::string(one.substr(0, equals))] = value;
    text.remove_prefix(std::min(text.size(), one.size() + 1));
  }
  return settings;
}

Result<void> plan_load(Options& options, run::RunPlan& plan) {
  const bool open = options.text("mode") == "open";
  plan.mode = open ? load::LoadMode::kOpen : load::LoadMode::kClosed;
  if (open && !options.has_value("rate")) {
    return Error{"--rate is needed in an open loop; example: --mode open --rate 5000"};
  }
  if (!open) {
    for (const char* name : {"rate", "burst", "max-inflight", "arrival", "no-leader"}) {
      if (options.given_for_this_run(name)) {
        return Error{fmt::format("--{} belongs to --mode open; this run is closed", name)};
      }
    }
  } else if (options.given_for_this_run("threads")) {
    return Error{"--threads belongs to --mode closed; in an open loop --max-inflight bounds"};
  }
  plan.schedule.warmup = options.duration("warmup");
  plan.schedule.measure = options.duration("measure");
  if (open) {
    plan.schedule.rate.count = *parse_rate(options.text("rate"));
    plan.schedule.burst = options.count("burst");
    plan.schedule.seed = options.count("seed");
    plan.schedule.arrival = options.text("arrival") == "poisson" ? load::ArrivalPattern::kPoisson
                                                                 : load::ArrivalPattern::kUniform;
    const std::uint64_t tenth = plan.schedule.rate.count / load::MicroHertz::kPerHertz / 10;
    options.set_default("max-inflight", std::to_string(std::max(kInFlightMin, tenth)), "default");
  }
  plan.outstanding = static_cast<std::uint32_t>(options.count(open ? "max-inflight" : "threads"));
  plan.workers = static_cast<std::uint32_t>(options.count("workers"));
  plan.timeout = options.duration("timeout");
  plan.drain = options.duration("drain-timeout");
  plan.no_leader = options.text("no-leader") == "drop" ? load::NoLeaderPolicy::kDrop
                                                       : load::NoLeaderPolicy::kHold;
  plan.send_stamp =
      options.text("send-stamp") == "batch" ? load::SendStamp::kBatch : load::SendStamp::kOperation;
  for (const auto pace :
       {run::Pace::kAuto, run::Pace::kSpin, run::Pace::kPark, run::Pace::kBlock}) {
    if (to_string(pace) == options.text("pace")) {
      plan.pace = pace;
    }
  }
  plan.driver.connections = static_cast<std::uint32_t>(options.count("connections"));
  plan.workload.value_size = static_cast<std::uint32_t>(*parse_size(options.text("value-size")));
  plan.workload.salt = options.count("seed") * 0x9E3779B97F4A7C15U;
  return {};
}

/// Servers that share this machine with the client.
std::uint64_t servers_here(const Options& options, const run::SessionOptions& session) {
  if (session.local) {
    return options.count("cluster-size");
  }
  const auto& nodes = session.plan.driver.nodes;
  return static_cast<std::uint64_t>(
      std::count_if(nodes.begin(), nodes.end(), net::is_this_machine));
}

/// The client has a core of its own where the servers are elsewhere, or where there are
/// more cores than servers.
void plan_cores(run::SessionOptions& session) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) {
    return;
  }
  const auto cores = static_cast<std::uint64_t>(CPU_COUNT(&set));
  run::RunPlan& plan = session.plan;
  plan.core_of_its_own = cores >= session.servers_here + plan.workers + 1;
  for (int cpu = CPU_SETSIZE - 1; plan.core_of_its_own && cpu >= 0; --cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set) && plan.cpus.size() < plan.workers) {
      plan.cpus.push_back(cpu);
    }
  }
}

Result<void> plan_cluster(Options& options, const Descriptor& system, const Place& place,
                          run::SessionOptions& session) {
  const auto available = cluster::find_executable(system, place.build);
  if (!available.built) {
    return Error{fmt::format("{} is not built: {}", system.name, available.remedy)};
  }
  const auto state = cluster::StateDirectory::find();
  if (!state) {
    return Error{state.error()};
  }
  session.local = system;
  session.cluster.state = *state;
  session.cluster.nodes = static_cast<int>(options.count("cluster-size"));
  session.cluster.durability = session.durability;
  session.cluster.build = place.build;
  session.cluster.guard_arguments = {place.executable.string(), "guard"};
  if (options.has_value("port-base")) {
    session.cluster.port_base = static_cast<std::uint16_t>(options.count("port-base"));
  }
  const auto settings = parse_settings(options.text("set"));
  if (!settings) {
    return Error{settings.error()};
  }
  for (const auto& [name, value] : *settings) {
    if (!system.knobs.contains(name)) {
      std::vector<std::string> known;
      for (const auto& knob : system.knobs) {
        known.push_back(knob.first);
      }
      return Error{fmt::format("--set: {} has no knob '{}'{}; it has: {}", system.name, name,
                               did_you_mean(name, known), fmt::join(known, ", "))};
    }
  }
  session.cluster.knobs = *settings;
  return {};
}

Result<void> plan_system(Options& options, const Descriptor& system, const Place& place,
                         run::SessionOptions& session) {
  session.protocol = system.protocol;
  if (system.protocol == "wire") {
    session.stub_program = place.build / "raftperf-stub";
  }
  options.set_default("durability", system.default_durability, "system");
  session.durability = options.text("durability");
  if (!system.durability.contains(session.durability)) {
    std::vector<std::string> known;
    for (const auto& each : system.durability) {
      known.push_back(each.first);
    }
    return Error{fmt::format("--durability '{}': {} offers {}", session.durability, system.name,
                             fmt::join(known, ", "))};
  }
  const auto profile = system.profiles.find(session.profile);
  if (profile == system.profiles.end()) {
    return Error{
        fmt::format("--profile '{}': {} has no such profile", session.profile, system.name)};
  }
  session.plan.workload.kind = kind_of(profile->second.operation);
  if (system.in_flight_max && *system.in_flight_max > 0 &&
      session.plan.mode == load::LoadMode::kOpen && !options.given("max-inflight")) {
    options.set_default("max-inflight", std::to_string(*system.in_flight_max), "system");
    session.plan.outstanding = static_cast<std::uint32_t>(*system.in_flight_max);
  }
  if (options.has_value("nodes")) {
    for (const char* name : {"set", "cluster-size", "port-base"}) {
      if (options.given(name)) {
        return Error{
            fmt::format("--{} belongs to a local cluster; --nodes names one that runs", name)};
      }
    }
    session.plan.driver.nodes = *net::parse_endpoints(options.text("nodes"));
    return {};
  }
  return plan_cluster(options, system, place, session);
}

Result<void> plan_leader(const Options& options, run::SessionOptions& session) {
  if (session.system == kSim || options.text("leader") == "any") {
    return {};
  }
  const std::uint64_t node = *parse_count(options.text("leader").substr(4));
  const std::uint64_t nodes =
      session.local ? options.count("cluster-size") : session.plan.driver.nodes.size();
  if (node >= nodes) {
    return Error{fmt::format("--leader node{}: the cluster has node0 to node{}", node, nodes - 1)};
  }
  session.leader_wanted = static_cast<int>(node);
  return {};
}

}  // namespace

Result<run::SessionOptions> plan_session(Options& options, const std::string& system,
                                         const Place& place) {
  run::SessionOptions session;
  session.system = system;
  session.plugin_dir = place.build;
  session.profile = options.text("profile");
  if (auto planned = plan_load(options, session.plan); !planned) {
    return Error{planned.error()};
  }
  if (system == kSim) {
    session.protocol = kSim;
    options.set_default("durability", "memory", "system");
    session.durability = "memory";
    const auto settings = parse_settings(options.text("set"));
    if (!settings) {
      return Error{settings.error()};
    }
    session.plan.driver.settings = *settings;
    if (const auto checked = drivers::SimDriver::read_settings(*settings); !checked) {
      return Error{"--set: " + checked.error()};
    }
  } else {
    const auto descriptor = cluster::find_system(place.root, system);
    if (!descriptor) {
      // The catalogue does not know of the one system that is no folder.
      return Error{descriptor.error() + did_you_mean(system, std::array{kSim})};
    }
    if (auto planned = plan_system(options, *descriptor, place, session); !planned) {
      return Error{planned.error()};
    }
  }
  if (auto planned = plan_leader(options, session); !planned) {
    return Error{planned.error()};
  }
  session.servers_here = servers_here(options, session);
  plan_cores(session);
  session.verify = options.text("verify") == "on";
  if (options.has_value("out")) {
    session.out = options.text("out");
  }
  if (options.has_value("hdr-out")) {
    session.hdr_out = options.text("hdr-out");
  }
  session.options = options.records();
  return session;
}

}  // namespace raftperf::cli
