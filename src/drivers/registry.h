// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "drivers/driver.h"

namespace raftperf::drivers {

/// Raised when Driver, DriverConfig or anything they contain changes.
inline constexpr int kPluginAbi = 1;

/// What a plug-in `raftperf-driver-<protocol>.so` exports, and what a built-in driver
/// registers: how to make one driver for one worker.
struct DriverFactory {
  int abi = kPluginAbi;
  const char* protocol = "";
  Result<DriverPtr> (*create)(const DriverConfig& config) = nullptr;
};

/// The one symbol of a plug-in: `extern "C" const DriverFactory* raftperf_driver()`.
inline constexpr const char* kPluginSymbol = "raftperf_driver";

/// The driver of a protocol: built in, or loaded from a plug-in in `plugin_dir`. The
/// error of a missing or unfit plug-in says what to do.
Result<const DriverFactory*> find_driver(const std::string& protocol,
                                         const std::filesystem::path& plugin_dir);

/// Protocols that `find_driver` knows: the built-in ones and the plug-ins present.
std::vector<std::string> known_protocols(const std::filesystem::path& plugin_dir);

}  // namespace raftperf::drivers
