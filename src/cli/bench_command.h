// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/place.h"

namespace raftperf::cli {

/// `raftperf bench [SYSTEM...]`: from nothing to numbers: the selftest, then for each
/// system a closed loop and an open-loop ladder below its rate, and one table.
class BenchCommand {
 public:
  explicit BenchCommand(CLI::App& root);

  [[nodiscard]] bool chosen() const { return app_->parsed(); }
  int execute(const Place& place) const;

 private:
  CLI::App* app_;
  std::vector<std::string> systems_{"libraft"};
  std::string warmup_ = "2s";
  std::string measure_ = "10s";
};

}  // namespace raftperf::cli
