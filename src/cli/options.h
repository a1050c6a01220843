// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/run_record.h"

namespace raftperf::cli {

/// One option, under one name everywhere: flag `--max-inflight`, TOML key
/// `max_inflight`, variable `RAFTPERF_MAX_INFLIGHT` (Make: MAX_INFLIGHT), record field.
struct OptionSpec {
  std::string_view name;      ///< With dashes.
  std::string_view value;     ///< What stands for the value in the help.
  std::string_view standard;  ///< The default, as text; "" where there is none.
  std::string_view help;
  /// Refuses a value with its range and an example.
  Result<void> (*check)(const std::string& text);
};

/// The options of `raftperf run`, in the order of the help.
std::span<const OptionSpec> run_options();

/// Resolved options: each with its value as text and where it came from, the flag before
/// the environment before the file before the system before the default.
class Options {
 public:
  explicit Options(std::span<const OptionSpec> specs) : specs_(specs) {}

  /// Adds the flags to a subcommand. This object must outlive the parsing.
  void add_to(CLI::App& app);

  /// After parsing: takes the flags given, the environment and the file, and checks
  /// every value. The error names option, value, range and an example.
  Result<void> resolve(const std::string& config_file);

  /// A default that comes from the system under test or from another option; used where
  /// nothing else gave a value.
  void set_default(std::string_view name, std::string value, std::string_view source);

  [[nodiscard]] const std::string& text(std::string_view name) const;
  [[nodiscard]] bool given(std::string_view name) const;
  /// By a flag or a file; a variable of the environment may be meant for other runs.
  [[nodiscard]] bool given_for_this_run(std::string_view name) const;
  [[nodiscard]] bool has_value(std::string_view name) const { return !text(name).empty(); }
  // REQUIRES: checked by the option's own parser.
  [[nodiscard]] std::chrono::nanoseconds duration(std::string_view name) const;
  [[nodiscard]] std::uint64_t count(std::string_view name) const;

  [[nodiscard]] std::vector<record::OptionRecord> records() const;

 private:
  struct Value {
    std::string text;
    std::string source;
  };

  [[nodiscard]] const OptionSpec* find(std::string_view name) const;
  Result<void> take(const OptionSpec& spec, const std::string& text, std::string_view source);
  Result<void> read_environment();
  Result<void> read_file(const std::string& path);

  std::span<const OptionSpec> specs_;
  std::map<std::string, std::string, std::less<>> flags_;
  std::map<std::string, CLI::Option*, std::less<>> parsed_;
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace raftperf::cli
