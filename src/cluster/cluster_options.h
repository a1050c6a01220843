// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/state_directory.h"

namespace raftperf::cluster {

/// How a local cluster is to be brought up.
struct ClusterOptions {
  enum class Lifetime : std::uint8_t {
    kThisProcess,  ///< Stopped when we end, however we end.
    kUntilDown,    ///< Outlives us, found again by its state directory.
  };

  Lifetime lifetime = Lifetime::kThisProcess;
  int nodes = 3;
  std::string durability;                     ///< A class; "": the system's default.
  std::map<std::string, std::string> knobs;   ///< Values that differ from the default.
  std::optional<std::uint16_t> port_base;     ///< Where the lowest base port goes.
  std::filesystem::path build;                ///< Where the tool and its servers are built.
  StateDirectory state;                       ///< REQUIRES: an absolute path.
  std::optional<std::filesystem::path> logs;  ///< Kept afterwards; default: removed at the end.
  std::optional<std::filesystem::path> data_parent;  ///< Above the data; default by class.
  std::uint64_t run_token = 0;                       ///< 0: a new one.
  std::vector<std::string> guard_arguments;          ///< See Guard::start.
  std::chrono::milliseconds ready_timeout{30'000};
  std::chrono::milliseconds stop_grace{5'000};
  std::function<bool()> interrupted;  ///< Asked while waiting, at least every 50 ms.
};

}  // namespace raftperf::cluster
