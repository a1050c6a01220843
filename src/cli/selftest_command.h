// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "cli/output.h"
#include "cli/place.h"

namespace raftperf::cli {

/// `raftperf selftest`: does the rig tell the truth, and what is this machine good for?
class SelftestCommand {
 public:
  explicit SelftestCommand(CLI::App& root);

  [[nodiscard]] bool chosen() const { return app_->parsed(); }
  int execute(const Place& place) const;

 private:
  CLI::App* app_;
  bool json_ = false;
};

/// Runs and prints it; kDone or kInvalid.
int run_selftest(const Place& place, Output output);

}  // namespace raftperf::cli
