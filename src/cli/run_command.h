// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/options.h"
#include "cli/place.h"
#include "run/session.h"

namespace raftperf::cli {

/// `raftperf run SYSTEM`: one run, from options to verdict.
class RunCommand {
 public:
  explicit RunCommand(CLI::App& root);

  [[nodiscard]] bool chosen() const { return app_->parsed(); }
  int execute(const Place& place);

 private:
  CLI::App* app_;
  Options options_;
  std::string system_;
  std::string config_file_;
  bool json_ = false;
};

/// Turns resolved options into a session, completing defaults that depend on the system
/// or on other options. The error is a usage mistake.
Result<run::SessionOptions> plan_session(Options& options, const std::string& system,
                                         const Place& place);

}  // namespace raftperf::cli
