// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster_command.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cli/exit_status.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cluster/cluster_probe.h"
#include "cluster/system_catalogue.h"

namespace raftperf::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kAskTimeout = 1s;
constexpr std::chrono::milliseconds kTransferTimeout = 5s;

int failed(const std::string& message, int status) {
  say(stderr, "raftperf: {}\n", message);
  return status;
}

nlohmann::ordered_json node_json(const cluster::NodeView& view, pid_t pid,
                                 const net::Endpoint& client, int node) {
  nlohmann::ordered_json json{{"node", node},
                              {"pid", pid},
                              {"client", to_string(client)},
                              {"answers", view.contact == cluster::NodeView::Contact::kAnswers}};
  if (view.last) {
    json["role"] = std::string(to_string(view.last->role));
    json["term"] = view.last->term;
    json["applied_index"] = view.last->applied_index;
    if (view.last->operation_count) {
      json["operation_count"] = *view.last->operation_count;
    }
    if (view.last->checksum) {
      json["checksum"] = *view.last->checksum;
    }
  }
  return json;
}

}  // namespace

ClusterCommand::ClusterCommand(CLI::App& root) {
  app_ = root.add_subcommand("cluster", "Start, look at, move and stop a local cluster");
  app_->require_subcommand(1);
  up_ = app_->add_subcommand("up", "start a cluster that stays until `down`");
  status_ = app_->add_subcommand("status", "who runs, who leads");
  down_ = app_->add_subcommand("down", "stop it and remove its data");
  transfer_ = app_->add_subcommand("transfer-leader", "move the leader");
  for (CLI::App* each : {up_, status_, down_, transfer_}) {
    each->add_option("system", system_, "a folder of systems/")->required();
  }
  up_->add_option("--durability", durability_, "durability class [the system's default]");
  up_->add_option("--cluster-size", nodes_, "nodes [3]")->check(CLI::Range(1, 9));
  up_->add_option("--port-base", port_base_, "first port [the system's]");
  status_->add_flag("--json", json_, "for machines");
  transfer_->add_option("--to", node_, "where to [node0]");
}

int ClusterCommand::execute(const Place& place) {
  const auto system = cluster::find_system(place.root, system_);
  if (!system) {
    return failed(system.error(), kUsage);
  }
  if (up_->parsed()) {
    return up(place, *system);
  }
  const auto state = cluster::StateDirectory::find();
  if (!state) {
    return failed(state.error(), kNoCluster);
  }
  cluster::EventLog events;
  const auto running = cluster::LocalCluster::attach(system_, *state, events);
  if (!running) {
    return failed(running.error(), kNoCluster);
  }
  if (status_->parsed()) {
    return status(*system, **running);
  }
  return down_->parsed() ? down(**running) : transfer(*system, **running);
}

int ClusterCommand::up(const Place& place, const cluster::SystemDescriptor& system) {
  const auto state = cluster::StateDirectory::find();
  if (!state) {
    return failed(state.error(), kNoCluster);
  }
  run::Signals signals;
  const Interrupts interrupts(signals);
  cluster::ClusterOptions options;
  options.lifetime = cluster::ClusterOptions::Lifetime::kUntilDown;
  options.nodes = nodes_;
  options.durability = durability_;
  options.build = place.build;
  options.state = *state;
  options.guard_arguments = {place.executable.string(), "guard"};
  options.interrupted = [&] { return signals.stopping(); };
  if (port_base_ != 0) {
    options.port_base = port_base_;
  }
  cluster::EventLog events;
  const auto cluster = cluster::LocalCluster::up(system, options, events);
  if (!cluster) {
    return failed(cluster.error(), signals.stopping() ? kInterrupted : kNoCluster);
  }
  return status(system, **cluster);
}

int ClusterCommand::status(const cluster::SystemDescriptor& system,
                           const cluster::LocalCluster& running) {
  const auto clients = running.clients();
  auto probe = cluster::ClusterProbe::create(system.protocol, clients);
  if (!probe) {
    return failed(probe.error(), kNoCluster);
  }
  const auto views = probe->look(kAskTimeout);
  const cluster::LeaderView leader = cluster::decide_leader(views);
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::string endpoints;
  for (int node = 0; node < running.nodes(); ++node) {
    const auto index = static_cast<std::size_t>(node);
    const cluster::NodeView& view = views[index];
    endpoints += (node == 0 ? "" : ",") + to_string(clients[index]);
    if (json_) {
      json.push_back(node_json(view, running.pid(node), clients[index], node));
      continue;
    }
    const bool answers = view.contact == cluster::NodeView::Contact::kAnswers && view.last;
    say(stdout, "node{}  pid {:<8} {:<22} {}\n", node, running.pid(node), to_string(clients[index]),
        answers ? fmt::format("{}, term {}, applied {}", to_string(view.last->role),
                              view.last->term, view.last->applied_index)
                : "no answer: " + probe->problem(node));
  }
  if (json_) {
    say(stdout, "{}\n", json.dump(2));
  } else {
    say(stdout, "measure it with: raftperf run {} --nodes {}\n", system.name, endpoints);
  }
  return leader.leader >= 0 ? kDone : kNoCluster;
}

int ClusterCommand::down(cluster::LocalCluster& running) {
  const cluster::DownReport report = running.down();
  for (const auto& node : report.nodes) {
    say(stdout, "node{}  pid {:<8} {}\n", node.node, node.pid, node.outcome);
  }
  for (const std::string& problem : report.problems) {
    say(stderr, "raftperf: {}\n", problem);
  }
  return report.problems.empty() ? kDone : kNoCluster;
}

int ClusterCommand::transfer(const cluster::SystemDescriptor& system,
                             const cluster::LocalCluster& running) {
  const auto node = node_.starts_with("node") ? parse_count(node_.substr(4)) : parse_count(node_);
  if (!node || *node >= static_cast<std::uint64_t>(running.nodes())) {
    return failed(
        fmt::format("--to '{}': node0 to node{}; example: node1", node_, running.nodes() - 1),
        kUsage);
  }
  auto probe = cluster::ClusterProbe::create(system.protocol, running.clients());
  if (!probe) {
    return failed(probe.error(), kNoCluster);
  }
  const auto moved = probe->transfer_leader(static_cast<int>(*node), kTransferTimeout);
  if (!moved) {
    return failed(moved.error(), kNoCluster);
  }
  say(stdout, "node{} leads\n", *node);
  return kDone;
}

}  // namespace raftperf::cli
