// SPDX-License-Identifier: Apache-2.0
#include "cli/selftest_command.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/exit_status.h"
#include "run/selftest.h"

namespace raftperf::cli {
namespace {

using run::Check;

std::string_view word(Check::Outcome outcome) {
  switch (outcome) {
    case Check::Outcome::kPassed:
      return "ok";
    case Check::Outcome::kFailed:
      return "FAILED";
    case Check::Outcome::kNoted:
      return "noted";
  }
  return "?";
}

void print(const std::vector<Check>& checks) {
  for (const Check& check : checks) {
    say(stdout, "{:<7}{}\n", word(check.outcome), check.name);
    say(stdout, "{:<7}  {}; expected {}\n", "", check.measured, check.expected);
  }
  std::fflush(stdout);
}

}  // namespace

SelftestCommand::SelftestCommand(CLI::App& root) {
  app_ = root.add_subcommand("selftest", "Hold the rig against known answers, on this machine");
  app_->add_flag("--json", json_, "for machines");
}

int SelftestCommand::execute(const Place& place) const {
  return run_selftest(place, json_ ? Output::kJson : Output::kText);
}

int run_selftest(const Place& place, Output output) {
  const bool text = output == Output::kText;
  if (text) {
    say(stdout, "simulated time, against closed-form answers\n");
  }
  std::vector<Check> checks = run::check_against_theory();
  if (text) {
    print(checks);
    say(stdout, "\nreal time, against the stub in another process\n");
    std::fflush(stdout);
  }
  const auto real = run::check_against_stub(place.build / "raftperf-stub");
  if (text) {
    print(real);
  }
  checks.insert(checks.end(), real.begin(), real.end());
  std::size_t failed = 0;
  std::size_t noted = 0;
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Check& check : checks) {
    failed += check.outcome == Check::Outcome::kFailed ? 1U : 0U;
    noted += check.outcome == Check::Outcome::kNoted ? 1U : 0U;
    json.push_back({{"name", check.name},
                    {"expected", check.expected},
                    {"measured", check.measured},
                    {"outcome", std::string(word(check.outcome))}});
  }
  if (!text) {
    say(stdout, "{}\n", json.dump(2));
  } else {
    say(stdout, "\nselftest: {} of {} checks failed, {} notes on this machine\n", failed,
        checks.size() - noted, noted);
  }
  return failed == 0 ? kDone : kInvalid;
}

}  // namespace raftperf::cli
