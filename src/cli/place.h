// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace raftperf::cli {

/// Where this program lives: its build folder and the source tree around it.
struct Place {
  std::filesystem::path executable;
  std::filesystem::path build;  ///< Holds the servers, the stub and the driver plug-ins.
  std::filesystem::path root;   ///< Holds systems/; RAFTPERF_ROOT overrides it.

  static Place find();
};

}  // namespace raftperf::cli
