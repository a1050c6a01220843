// SPDX-License-Identifier: Apache-2.0
#include "cluster/toml_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/nearest.h"

namespace raftperf::cluster {
namespace {

std::optional<std::string> scalar_text(const toml::node& node) {
  if (const auto* text = node.as_string()) {
    return text->get();
  }
  if (const auto* number = node.as_integer()) {
    return std::to_string(number->get());
  }
  if (const auto* number = node.as_floating_point()) {
    return fmt::format("{}", number->get());
  }
  if (const auto* flag = node.as_boolean()) {
    return flag->get() ? "true" : "false";
  }
  return std::nullopt;
}

}  // namespace

Error TomlReader::describe(std::string_view key, std::string_view what) const {
  const toml::node* node = table_.get(key);
  const auto line = node != nullptr ? node->source().begin.line : table_.source().begin.line;
  const std::string place = line > 0 ? fmt::format("{}:{}", file_, line) : file_;
  return Error{fmt::format("{}: {}{}: {}", place, prefix_, key, what)};
}

void TomlReader::fail(std::string_view key, std::string_view what) {
  if (!mistakes_.other) {
    mistakes_.other = describe(key, what);
  }
}

const toml::node* TomlReader::find(std::string_view key) {
  known_.emplace_back(key);
  return table_.get(key);
}

std::string TomlReader::required_text(std::string_view key, std::string_view allowed) {
  const toml::node* node = find(key);
  const auto* value = node == nullptr ? nullptr : node->as_string();
  if (value == nullptr || value->get().empty()) {
    fail(key, fmt::format("{}; {}", node == nullptr ? "is missing" : "is not a text", allowed));
    return {};
  }
  return value->get();
}

std::string TomlReader::text(std::string_view key, std::string_view fallback) {
  const toml::node* node = find(key);
  if (node == nullptr) {
    return std::string(fallback);
  }
  const auto* value = node->as_string();
  if (value == nullptr) {
    fail(key, "is not a text; a string in quotes is");
    return {};
  }
  return value->get();
}

std::string TomlReader::one_of(std::string_view key, const std::vector<std::string>& words,
                               std::string_view fallback) {
  const toml::node* node = find(key);
  if (node == nullptr && !fallback.empty()) {
    return std::string(fallback);
  }
  const std::string value = node == nullptr ? "" : scalar_text(*node).value_or("");
  if (std::find(words.begin(), words.end(), value) != words.end()) {
    return value;
  }
  const std::string problem =
      node == nullptr ? "is missing" : fmt::format("'{}' is not known", value);
  fail(key, fmt::format("{}; allowed: {}{}", problem, fmt::join(words, ", "),
                        node == nullptr ? "" : did_you_mean(value, words)));
  return words.front();
}

std::optional<std::int64_t> TomlReader::integer(std::string_view key, Range range) {
  const toml::node* node = find(key);
  if (node == nullptr) {
    return std::nullopt;
  }
  const auto* value = node->as_integer();
  if (value == nullptr || value->get() < range.min || value->get() > range.max) {
    fail(key, fmt::format("{} is not allowed; a whole number from {} to {} is",
                          scalar_text(*node).value_or("this"), range.min, range.max));
    return range.min;
  }
  return value->get();
}

std::int64_t TomlReader::required_integer(std::string_view key, Range range) {
  const auto value = integer(key, range);
  if (!value) {
    fail(key, fmt::format("is missing; a whole number from {} to {}", range.min, range.max));
  }
  return value.value_or(range.min);
}

std::vector<std::string> TomlReader::texts(std::string_view key) {
  std::vector<std::string> values;
  const toml::node* node = find(key);
  if (node == nullptr) {
    return values;
  }
  const auto* array = node->as_array();
  if (array == nullptr) {
    fail(key, "is not a list; a list of strings is allowed, e.g. [\"--fsync\", \"on\"]");
    return values;
  }
  for (const toml::node& element : *array) {
    const auto* text = element.as_string();
    if (text == nullptr) {
      fail(key, "has an element that is no string; write numbers in quotes, e.g. \"50\"");
      return values;
    }
    values.push_back(text->get());
  }
  return values;
}

std::string TomlReader::scalar(std::string_view key) {
  const toml::node* node = find(key);
  const auto value = node == nullptr ? std::nullopt : scalar_text(*node);
  if (!value) {
    fail(key, fmt::format("{}; a number, true, false or a string",
                          node == nullptr ? "is missing" : "is not a single value"));
  }
  return value.value_or("");
}

std::map<std::string, std::string> TomlReader::all_scalars() {
  std::map<std::string, std::string> values;
  for (const auto& [key, node] : table_) {
    values.emplace(std::string(key.str()), scalar(key.str()));
  }
  return values;
}

std::optional<TomlReader> TomlReader::table(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) {
    return std::nullopt;
  }
  const auto* below = node->as_table();
  if (below == nullptr) {
    fail(key, fmt::format("is not a table; write [{}{}] above its keys", prefix_, key));
    return std::nullopt;
  }
  return TomlReader(*below, file_, fmt::format("{}{}.", prefix_, key), mistakes_);
}

std::vector<std::string> TomlReader::table_keys() {
  std::vector<std::string> keys;
  for (const auto& [key, node] : table_) {
    if (node.is_table()) {
      keys.emplace_back(key.str());
    }
  }
  return keys;
}

void TomlReader::finish() {
  for (const auto& [key, node] : table_) {
    if (std::find(known_.begin(), known_.end(), key.str()) == known_.end() &&
        !mistakes_.unknown_key) {
      mistakes_.unknown_key =
          describe(key.str(), fmt::format("is not known; allowed: {}{}", fmt::join(known_, ", "),
                                          did_you_mean(key.str(), known_)));
    }
  }
}

}  // namespace raftperf::cluster
