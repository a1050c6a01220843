// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/data_directory.h"

namespace raftperf::cluster {

/// What systems/<name>/system.toml says about a system under test: how it is built,
/// started and spoken to. Immutable after loading; systems/README.md has the format.
struct SystemDescriptor {
  /// What a workload profile asks of the system.
  enum class Operation : std::uint8_t { kCompareAndSet, kAppend, kSet, kEcho };

  /// By whom something is done.
  enum class LeaderControl : std::uint8_t {
    kProtocol,  ///< By a request of the client protocol.
    kNone,      ///< Not at all.
  };

  enum class ValueKind : std::uint8_t { kInteger, kFloat, kBoolean, kText };

  struct Durability {
    DataMedium medium = DataMedium::kTmpfs;
    std::vector<std::string> arguments;  ///< Added to the start command; may use placeholders.
  };

  /// A setting of the server that is part of what a run records. Always passed, with
  /// its default where nobody chose a value, so that the record says what ran.
  struct Knob {
    std::string flag;  ///< "--x" and the value follow as two arguments; "--x=" as one.
    std::string default_value;
    ValueKind kind = ValueKind::kText;
    std::string unit;  ///< "" if it has none.
    std::string description;
  };

  struct Profile {
    Operation operation = Operation::kAppend;
    /// Of the command, as it enters the log. Nothing: the value size that the user asks for.
    std::optional<std::int64_t> request_bytes;
    std::map<std::string, std::string> http;  ///< For http drivers, as it stands: method, path, ...
  };

  std::filesystem::path folder;
  std::string name;
  std::string title;
  std::string upstream;
  std::string version;
  std::string licence;
  std::string protocol;    ///< Which client protocol it speaks: "wire", "http", ...
  std::string build;       ///< The command that builds it, for a person.
  std::string how_to_get;  ///< What to install first, for a person.
  std::string executable;  ///< As written; `find_executable` resolves it.
  std::optional<std::int64_t> in_flight_max;   ///< Nothing, or 0 in the file: the rig's default.
  std::map<std::string, std::uint16_t> ports;  ///< Base ports; "client" is always there.
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;
  std::string default_durability;
  std::map<std::string, Durability> durability;
  std::map<std::string, Knob> knobs;
  std::map<std::string, Profile> profiles;
  LeaderControl leader_find = LeaderControl::kProtocol;
  LeaderControl leader_move = LeaderControl::kProtocol;
};

/// As in system.toml: "compare_and_set", ...
std::string_view to_string(SystemDescriptor::Operation operation) noexcept;

/// Reads `file`. The error is one line: file, line, key, what is allowed.
Result<SystemDescriptor> load_system(const std::filesystem::path& file);

}  // namespace raftperf::cluster
