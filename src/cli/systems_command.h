// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "cli/place.h"

namespace raftperf::cli {

/// `raftperf systems`: what can be measured here, what is missing, how to get it.
class SystemsCommand {
 public:
  explicit SystemsCommand(CLI::App& root);

  [[nodiscard]] bool chosen() const { return app_->parsed(); }
  int execute(const Place& place) const;

 private:
  CLI::App* app_;
  bool json_ = false;
};

}  // namespace raftperf::cli
