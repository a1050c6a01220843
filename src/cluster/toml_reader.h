// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace raftperf::cluster {

/// Reads the keys of one TOML table, and notices the keys that nobody asked for.
///
/// After a mistake every answer is a harmless default, so that the caller looks at the
/// mistakes once, at the end. A message has the form
/// `file:line: key: what is wrong; what is allowed`.
class TomlReader {
 public:
  /// Shared by all readers of a file.
  struct Mistakes {
    std::optional<Error> unknown_key;  ///< The first of these; often the reason of the other.
    std::optional<Error> other;        ///< The first of any other kind.

    [[nodiscard]] const std::optional<Error>& worst() const noexcept {
      return unknown_key ? unknown_key : other;
    }
  };

  struct Range {
    std::int64_t min = 0;
    std::int64_t max = 0;
  };

  /// Everything is borrowed. `prefix` is "" for the file's own table, else "start.".
  TomlReader(const toml::table& table, std::string file, std::string prefix, Mistakes& mistakes)
      : table_(table), file_(std::move(file)), prefix_(std::move(prefix)), mistakes_(mistakes) {}

  /// `allowed` finishes the sentence where the key is missing or of another type.
  std::string required_text(std::string_view key, std::string_view allowed);
  std::string text(std::string_view key, std::string_view fallback);
  std::string one_of(std::string_view key, const std::vector<std::string>& words,
                     std::string_view fallback = "");
  std::optional<std::int64_t> integer(std::string_view key, Range range);
  std::int64_t required_integer(std::string_view key, Range range);
  std::vector<std::string> texts(std::string_view key);
  /// Integer, float, boolean or string, as text.
  std::string scalar(std::string_view key);
  /// All keys of this table with their scalar values as text.
  std::map<std::string, std::string> all_scalars();

  /// The reader of a table below this one; nothing if there is no such key.
  std::optional<TomlReader> table(std::string_view key);
  /// The keys of this table whose values are tables, in alphabetical order.
  std::vector<std::string> table_keys();
  [[nodiscard]] bool has(std::string_view key) const { return table_.contains(key); }

  /// Call last: a key that was never asked for is a mistake.
  void finish();

  /// Notes a mistake at a key of this table.
  void fail(std::string_view key, std::string_view what);

 private:
  const toml::node* find(std::string_view key);
  [[nodiscard]] Error describe(std::string_view key, std::string_view what) const;

  const toml::table& table_;
  std::string file_;
  std::string prefix_;
  Mistakes& mistakes_;
  std::vector<std::string> known_;
};

}  // namespace raftperf::cluster
