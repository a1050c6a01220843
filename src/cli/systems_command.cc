// SPDX-License-Identifier: Apache-2.0
#include "cli/systems_command.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/exit_status.h"
#include "cli/output.h"
#include "cluster/system_catalogue.h"
#include "drivers/registry.h"

namespace raftperf::cli {
namespace {

nlohmann::ordered_json to_json(const cluster::SystemDescriptor& system,
                               const cluster::Availability& available) {
  nlohmann::ordered_json durability = nlohmann::ordered_json::array();
  for (const auto& each : system.durability) {
    durability.push_back(each.first);
  }
  nlohmann::ordered_json profiles = nlohmann::ordered_json::array();
  for (const auto& each : system.profiles) {
    profiles.push_back(each.first);
  }
  return {{"name", system.name},         {"title", system.title},
          {"version", system.version},   {"licence", system.licence},
          {"upstream", system.upstream}, {"protocol", system.protocol},
          {"durability", durability},    {"profiles", profiles},
          {"built", available.built},    {"executable", available.executable.string()},
          {"remedy", available.remedy}};
}

}  // namespace

SystemsCommand::SystemsCommand(CLI::App& root) {
  app_ = root.add_subcommand("systems", "What can be measured here, and how to get the rest");
  app_->add_flag("--json", json_, "for machines");
}

int SystemsCommand::execute(const Place& place) const {
  const auto catalogue = cluster::SystemCatalogue::scan(place.root);
  if (!catalogue) {
    say(stderr, "raftperf: {}\n", catalogue.error());
    return kUsage;
  }
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  if (!json_) {
    say(stdout, "{:<12}{:<10}{:<10}{}\n", "system", "protocol", "state", "what it is");
  }
  for (const auto& system : catalogue->systems) {
    const auto available = cluster::find_executable(system, place.build);
    if (json_) {
      json.push_back(to_json(system, available));
      continue;
    }
    say(stdout, "{:<12}{:<10}{:<10}{} {}\n", system.name, system.protocol,
        available.built ? "built" : "missing", system.title, system.version);
    if (!available.built) {
      say(stdout, "{:<32}{}\n", "", available.remedy);
    }
  }
  if (json_) {
    say(stdout, "{}\n", json.dump(2));
  } else {
    say(stdout, "{:<12}{:<10}{:<10}{}\n", "sim", "-", "built",
        "a simulated server in this process");
    say(stdout, "\ndrivers: {}\n", fmt::join(drivers::known_protocols(place.build), ", "));
  }
  for (const Error& broken : catalogue->broken) {
    say(stderr, "raftperf: {}\n", broken.message);
  }
  return catalogue->broken.empty() ? kDone : kInvalid;
}

}  // namespace raftperf::cli
