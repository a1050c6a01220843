// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/check.h"
#include "base/nearest.h"
#include "base/units.h"

namespace raftperf::cli {
namespace {

std::string key_of(std::string_view name) {
  std::string key(name);
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

std::string variable_of(std::string_view name) {
  std::string variable = "RAFTPERF_" + key_of(name);
  std::transform(variable.begin(), variable.end(), variable.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return variable;
}

/// What was typed may be anything; a terminal should survive the message.
std::string in_quotes(std::string_view text) {
  std::string shown = "'";
  for (const char c : text.substr(0, 64)) {
    shown += c >= ' ' && c <= '~' ? c : '?';
  }
  return shown + "'";
}

/// A TOML value as the text that the flag would have had.
Result<std::string> toml_text(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) {
    return *text;
  }
  if (const auto integer = node.value_exact<std::int64_t>()) {
    return std::to_string(*integer);
  }
  if (const auto real = node.value_exact<double>()) {
    return fmt::format("{}", *real);
  }
  if (const auto flag = node.value_exact<bool>()) {
    return std::string(*flag ? "on" : "off");
  }
  return Error{"must be a string, a number or a boolean"};
}

}  // namespace

void Options::add_to(CLI::App& app) {
  for (const OptionSpec& spec : specs_) {
    std::string& storage = flags_[std::string(spec.name)];
    std::string help(spec.help);
    if (!spec.standard.empty()) {
      help += fmt::format(" [{}]", spec.standard);
    }
    CLI::Option* option = app.add_option(fmt::format("--{}", spec.name), storage, help);
    option->type_name(std::string(spec.value))->take_last();
    parsed_[std::string(spec.name)] = option;
  }
}

const OptionSpec* Options::find(std::string_view name) const {
  const auto found = std::find_if(specs_.begin(), specs_.end(),
                                  [&](const OptionSpec& spec) { return spec.name == name; });
  return found == specs_.end() ? nullptr : &*found;
}

Result<void> Options::take(const OptionSpec& spec, const std::string& text,
                           std::string_view source) {
  if (const auto checked = spec.check(text); !checked) {
    // The parsers of numbers quote what they refuse themselves.
    const std::string value = checked.error().starts_with("'") ? "" : in_quotes(text) + ": ";
    return Error{fmt::format("--{} {}{}", spec.name, value, checked.error())};
  }
  values_[std::string(spec.name)] = {.text = text, .source = std::string(source)};
  return {};
}

Result<void> Options::resolve(const std::string& config_file) {
  for (const OptionSpec& spec : specs_) {
    values_[std::string(spec.name)] = {.text = std::string(spec.standard), .source = "default"};
  }
  if (!config_file.empty()) {
    if (auto read = read_file(config_file); !read) {
      return read;
    }
  }
  if (auto read = read_environment(); !read) {
    return read;
  }
  // Given is given, even where the value is the default's: a flag always wins.
  for (const OptionSpec& spec : specs_) {
    if (parsed_.at(std::string(spec.name))->count() > 0) {
      if (auto taken = take(spec, flags_.at(std::string(spec.name)), "flag"); !taken) {
        return taken;
      }
    }
  }
  return {};
}

Result<void> Options::read_environment() {
  for (const OptionSpec& spec : specs_) {
    const std::string variable = variable_of(spec.name);
    const char* text = std::getenv(variable.c_str());
    if (text != nullptr) {
      if (auto taken = take(spec, text, "environment"); !taken) {
        return Error{fmt::format("{}: {}", variable, taken.error())};
      }
    }
  }
  return {};
}

Result<void> Options::read_file(const std::string& path) {
  toml::table table;
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored)) {
    return Error{fmt::format("--config {}: is a folder; example: mine.toml", path)};
  }
  try {
    table = toml::parse_file(path);
  } catch (const toml::parse_error& error) {
    return Error{
        fmt::format("--config {}:{}: {}", path, error.source().begin.line, error.description())};
  }
  std::vector<std::string> known;
  for (const OptionSpec& spec : specs_) {
    known.push_back(key_of(spec.name));
  }
  for (const auto& [key, node] : table) {
    const auto index = std::find(known.begin(), known.end(), std::string(key.str()));
    const auto where =
        fmt::format("--config {}:{}: {}", path, node.source().begin.line, std::string(key.str()));
    if (index == known.end()) {
      return Error{where + ": unknown option" + did_you_mean(key.str(), known)};
    }
    const auto text = toml_text(node);
    if (!text) {
      return Error{where + ": " + text.error()};
    }
    const OptionSpec& spec = specs_[static_cast<std::size_t>(index - known.begin())];
    if (auto taken = take(spec, *text, "file"); !taken) {
      return Error{where + ": " + taken.error()};
    }
  }
  return {};
}

void Options::set_default(std::string_view name, std::string value, std::string_view source) {
  CHECK(find(name) != nullptr);
  Value& present = values_[std::string(name)];
  if (present.source == "default") {
    present = {.text = std::move(value), .source = std::string(source)};
  }
}

const std::string& Options::text(std::string_view name) const {
  const auto found = values_.find(name);
  CHECK(found != values_.end());
  return found->second.text;
}

bool Options::given(std::string_view name) const {
  const auto found = values_.find(name);
  CHECK(found != values_.end());
  return found->second.source == "flag" || found->second.source == "environment" ||
         found->second.source == "file";
}

bool Options::given_for_this_run(std::string_view name) const {
  return given(name) && values_.find(name)->second.source != "environment";
}

std::chrono::nanoseconds Options::duration(std::string_view name) const {
  return parse_duration(text(name)).value();
}

std::uint64_t Options::count(std::string_view name) const { return *parse_count(text(name)); }

std::vector<record::OptionRecord> Options::records() const {
  std::vector<record::OptionRecord> records;
  for (const OptionSpec& spec : specs_) {
    const Value& value = values_.at(std::string(spec.name));
    records.push_back({.name = key_of(spec.name), .value = value.text, .source = value.source});
  }
  return records;
}

}  // namespace raftperf::cli
