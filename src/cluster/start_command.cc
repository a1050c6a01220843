// SPDX-License-Identifier: Apache-2.0
#include "cluster/start_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "base/nearest.h"
#include "cluster/placeholders.h"

namespace raftperf::cluster {
namespace {

using ValueKind = SystemDescriptor::ValueKind;

template <typename Map>
std::vector<std::string> keys_of(const Map& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map) {
    keys.push_back(key);
  }
  return keys;
}

template <typename Number>
bool reads_as(const std::string& text) {
  Number number{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(number)) {
      return false;
    }
  }
  return code == std::errc{} && end == text.data() + text.size();
}

/// What is allowed, or "" if the text is that.
std::string_view problem_with(const std::string& text, ValueKind kind) {
  switch (kind) {
    case ValueKind::kInteger:
      return reads_as<std::int64_t>(text) ? "" : "a whole number";
    case ValueKind::kFloat:
      return reads_as<double>(text) ? "" : "a number";
    case ValueKind::kBoolean:
      return text == "true" || text == "false" ? "" : "true or false";
    case ValueKind::kText:
      return text.empty() ? "a text that is not empty" : "";
  }
  return "";
}

std::optional<std::string> port_value(const ClusterLayout& layout, std::string_view name,
                                      int node) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view what = name.substr(0, dot);
  const std::string port(name.substr(dot + 1));
  if (what == "nodes") {
    return layout.list(port);
  }
  const net::Endpoint& endpoint = layout.endpoint(port, node);
  return what == "address" ? net::to_string(endpoint) : std::to_string(endpoint.port);
}

}  // namespace

Result<StartCommand> start_command(const StartContext& context, int node,
                                   const std::filesystem::path& data_directory) {
  const SystemDescriptor& system = context.system;
  const std::map<std::string, std::string, std::less<>> plain{
      {"executable", context.executable.string()},
      {"build", context.build.string()},
      {"system", system.folder.string()},
      {"node", std::to_string(node)},
      {"host", context.layout.clients().at(static_cast<std::size_t>(node)).host},
      {"data_dir", data_directory.string()},
      {"run_token", std::to_string(context.run_token)}};
  const std::vector<std::string> known = placeholder_names(context.layout.port_names());
  const auto expand = [&](const std::string& text) {
    return expand_placeholders(
        text,
        [&](std::string_view name) -> std::optional<std::string> {
          const auto found = plain.find(name);
          return found != plain.end() ? found->second : port_value(context.layout, name, node);
        },
        known);
  };

  StartCommand start;
  std::vector<std::string> templates = system.command;
  const auto& more = system.durability.at(context.durability).arguments;
  templates.insert(templates.end(), more.begin(), more.end());
  for (const std::string& text : templates) {
    auto expanded = expand(text);
    if (!expanded) {
      return Error{expanded.error()};
    }
    start.arguments.push_back(*std::move(expanded));
  }
  for (const auto& [name, value] : context.knobs) {
    const std::string& flag = system.knobs.at(name).flag;
    if (flag.ends_with('=')) {
      start.arguments.push_back(flag + value);
    } else {
      start.arguments.push_back(flag);
      start.arguments.push_back(value);
    }
  }
  for (const auto& [name, text] : system.environment) {
    auto expanded = expand(text);
    if (!expanded) {
      return Error{expanded.error()};
    }
    start.environment.emplace(name, *std::move(expanded));
  }
  return start;
}

Result<std::map<std::string, std::string>> resolve_knobs(
    const SystemDescriptor& system, const std::map<std::string, std::string>& chosen) {
  std::map<std::string, std::string> resolved;
  for (const auto& [name, knob] : system.knobs) {
    resolved[name] = knob.default_value;
  }
  const std::vector<std::string> names = keys_of(system.knobs);
  for (const auto& [name, value] : chosen) {
    const auto knob = system.knobs.find(name);
    if (knob == system.knobs.end()) {
      return Error{fmt::format("knob '{}' is not one of {}'s; allowed: {}{}", name, system.name,
                               names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")),
                               did_you_mean(name, names))};
    }
    if (const auto allowed = problem_with(value, knob->second.kind); !allowed.empty()) {
      return Error{fmt::format("knob '{}' = '{}': must be {}; example: {}={}", name, value, allowed,
                               name, knob->second.default_value)};
    }
    resolved[name] = value;
  }
  return resolved;
}

Result<std::string> resolve_durability(const SystemDescriptor& system, const std::string& chosen) {
  if (chosen.empty()) {
    return system.default_durability;
  }
  if (!system.durability.contains(chosen)) {
    const std::vector<std::string> classes = keys_of(system.durability);
    return Error{fmt::format("durability '{}' is not one of {}'s; allowed: {}{}", chosen,
                             system.name, fmt::join(classes, ", "), did_you_mean(chosen, classes))};
  }
  return chosen;
}

}  // namespace raftperf::cluster
