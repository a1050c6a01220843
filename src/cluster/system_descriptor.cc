// SPDX-License-Identifier: Apache-2.0
#include "cluster/system_descriptor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "base/nearest.h"
#include "cluster/placeholders.h"
#include "cluster/toml_reader.h"

namespace raftperf::cluster {
namespace {

using Operation = SystemDescriptor::Operation;
using LeaderControl = SystemDescriptor::LeaderControl;
using ValueKind = SystemDescriptor::ValueKind;

constexpr TomlReader::Range kPort{.min = 1, .max = 65000};
constexpr TomlReader::Range kRequestBytes{.min = 1, .max = 1 << 20};
constexpr TomlReader::Range kInFlight{.min = 0, .max = 10'000'000};

constexpr Operation kOperations[] = {Operation::kCompareAndSet, Operation::kAppend, Operation::kSet,
                                     Operation::kEcho};

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

void check_name(TomlReader& reader, std::string_view key) {
  if (!is_name(key)) {
    reader.fail(key, "is not a name; small letters, digits, - and _ are allowed");
  }
}

void read_head(TomlReader& top, SystemDescriptor& system) {
  system.name = top.required_text("name", "the name of the system's folder");
  system.title = top.required_text("title", "one line for a person");
  system.upstream = top.required_text("upstream", "the address of the project");
  system.version = top.required_text("version", "the version of the library under test");
  system.licence = top.required_text("licence", "an SPDX expression, e.g. \"Apache-2.0\"");
  system.protocol = top.required_text("protocol", "a client protocol, e.g. \"wire\"");
  system.build = top.text("build", "");
  system.how_to_get = top.text("how_to_get", "");
  system.executable = top.required_text("executable", "a path, e.g. \"{build}/raftperf-libraft\"");
  system.in_flight_max = top.integer("in_flight_max", kInFlight);
  if (system.in_flight_max == 0) {
    system.in_flight_max.reset();
  }
  if (!system.name.empty() && system.name != system.folder.filename()) {
    top.fail("name", fmt::format("'{}' is not the name of the folder; '{}' is", system.name,
                                 system.folder.filename().string()));
  }
}

void read_ports(TomlReader& top, SystemDescriptor& system) {
  auto ports = top.table("ports");
  if (!ports || !ports->has("client")) {
    top.fail("ports", "is missing or has no 'client'; e.g. [ports] client = 8300");
    return;
  }
  for (const auto& [name, value] : ports->all_scalars()) {
    check_name(*ports, name);
    system.ports[name] = static_cast<std::uint16_t>(ports->required_integer(name, kPort));
  }
}

void check_placeholders(TomlReader& reader, std::string_view key, const std::string& text,
                        const SystemDescriptor& system) {
  std::vector<std::string> port_names;
  for (const auto& [name, base] : system.ports) {
    port_names.push_back(name);
  }
  const std::vector<std::string> known = placeholder_names(port_names);
  const auto expanded = expand_placeholders(
      text,
      [&](std::string_view name) -> std::optional<std::string> {
        return std::find(known.begin(), known.end(), name) == known.end()
                   ? std::nullopt
                   : std::optional<std::string>("x");
      },
      known);
  if (!expanded) {
    reader.fail(key, expanded.error());
  }
}

void read_start(TomlReader& top, SystemDescriptor& system) {
  auto start = top.table("start");
  if (!start) {
    top.fail("start",
             "is missing; e.g. [start] command = [\"{executable}\", \"--id\", \"{node}\"]");
    return;
  }
  system.command = start->texts("command");
  if (system.command.empty()) {
    start->fail("command",
                "is missing or empty; a list of strings that starts with \"{executable}\"");
  }
  for (const std::string& argument : system.command) {
    check_placeholders(*start, "command", argument, system);
  }
  if (auto environment = start->table("env")) {
    system.environment = environment->all_scalars();
    for (const auto& [name, value] : system.environment) {
      check_placeholders(*environment, name, value, system);
    }
  }
  start->finish();
}

void read_durability(TomlReader& top, SystemDescriptor& system) {
  auto durability = top.table("durability");
  if (!durability) {
    top.fail("durability",
             "is missing; e.g. [durability] default = \"memory\" and [durability.memory] "
             "data_dir = \"tmpfs\"");
    return;
  }
  std::vector<std::string> classes = durability->table_keys();
  for (const std::string& name : classes) {
    check_name(*durability, name);
    auto reader = *durability->table(name);
    SystemDescriptor::Durability entry;
    entry.medium = reader.one_of("data_dir", {"tmpfs", "disk"}) == "tmpfs" ? DataMedium::kTmpfs
                                                                           : DataMedium::kDisk;
    entry.arguments = reader.texts("args");
    for (const std::string& argument : entry.arguments) {
      check_placeholders(reader, "args", argument, system);
    }
    reader.finish();
    system.durability.emplace(name, std::move(entry));
  }
  if (classes.empty()) {
    top.fail("durability", "has no class; e.g. [durability.memory] data_dir = \"tmpfs\"");
    return;
  }
  system.default_durability = durability->one_of("default", classes);
  durability->finish();
}

ValueKind kind_of(const std::string& name, const toml::table& knobs) {
  const toml::node* node = knobs[name]["default"].node();
  if (node == nullptr || node->is_string()) {
    return ValueKind::kText;
  }
  if (node->is_boolean()) {
    return ValueKind::kBoolean;
  }
  return node->is_integer() ? ValueKind::kInteger : ValueKind::kFloat;
}

void read_knobs(TomlReader& top, const toml::table& file, SystemDescriptor& system) {
  auto knobs = top.table("knobs");
  if (!knobs) {
    return;
  }
  for (const std::string& name : knobs->table_keys()) {
    check_name(*knobs, name);
    auto reader = *knobs->table(name);
    SystemDescriptor::Knob knob;
    knob.flag = reader.required_text("flag", "the server's option, e.g. \"--heartbeat-ms\"");
    knob.default_value = reader.scalar("default");
    knob.kind = kind_of(name, *file["knobs"].as_table());
    knob.unit = reader.text("unit", "");
    knob.description = reader.text("description", "");
    reader.finish();
    system.knobs.emplace(name, std::move(knob));
  }
  knobs->finish();
}

void read_profiles(TomlReader& top, SystemDescriptor& system) {
  auto profiles = top.table("profiles");
  if (!profiles || profiles->table_keys().empty()) {
    top.fail("profiles",
             "is missing; e.g. [profiles.uniform] operation = \"append\", request_bytes = 64");
    return;
  }
  std::vector<std::string> words;
  for (const Operation operation : kOperations) {
    words.emplace_back(to_string(operation));
  }
  for (const std::string& name : profiles->table_keys()) {
    check_name(*profiles, name);
    auto reader = *profiles->table(name);
    SystemDescriptor::Profile profile;
    const std::string word = reader.one_of("operation", words);
    profile.operation = *std::find_if(std::begin(kOperations), std::end(kOperations),
                                      [&](Operation o) { return to_string(o) == word; });
    profile.request_bytes = reader.integer("request_bytes", kRequestBytes);
    if (auto http = reader.table("http")) {
      profile.http = http->all_scalars();
    }
    reader.finish();
    system.profiles.emplace(name, std::move(profile));
  }
  profiles->finish();
}

LeaderControl read_control(TomlReader& leader, std::string_view key) {
  return leader.one_of(key, {"protocol", "none"}, "protocol") == "none" ? LeaderControl::kNone
                                                                        : LeaderControl::kProtocol;
}

}  // namespace

std::string_view to_string(Operation operation) noexcept {
  switch (operation) {
    case Operation::kCompareAndSet:
      return "compare_and_set";
    case Operation::kAppend:
      return "append";
    case Operation::kSet:
      return "set";
    case Operation::kEcho:
      return "echo";
  }
  return "?";
}

Result<SystemDescriptor> load_system(const std::filesystem::path& file) {
  toml::table table;
  try {
    table = toml::parse_file(file.string());
  } catch (const toml::parse_error& error) {
    const auto line = error.source().begin.line;
    return Error{line > 0 ? fmt::format("{}:{}: {}", file.string(), line, error.description())
                          : fmt::format("{}: {}", file.string(), error.description())};
  }
  SystemDescriptor system;
  system.folder = std::filesystem::absolute(file).parent_path();
  TomlReader::Mistakes mistakes;
  TomlReader top(table, file.string(), "", mistakes);
  read_head(top, system);
  read_ports(top, system);
  read_start(top, system);
  read_durability(top, system);
  read_knobs(top, table, system);
  read_profiles(top, system);
  if (auto leader = top.table("leader")) {
    system.leader_find = read_control(*leader, "find");
    system.leader_move = read_control(*leader, "move");
    leader->finish();
  }
  top.finish();
  if (const auto& mistake = mistakes.worst()) {
    return *mistake;
  }
  return system;
}

}  // namespace raftperf::cluster
