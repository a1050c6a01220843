// SPDX-License-Identifier: Apache-2.0
#include "cli/run_command.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "cli/exit_status.h"
#include "cli/interrupt.h"
#include "cli/progress_line.h"
#include "report/numbers.h"
#include "report/run_summary.h"

namespace raftperf::cli {
namespace {

int status_of(const record::RunRecord& record) {
  if (record.window.interrupted) {
    return kInterrupted;
  }
  if (record.rig.status == load::to_string(load::RigStatus::kInvalid)) {
    return kInvalid;
  }
  return record.load.status == load::to_string(load::LoadStatus::kOverloaded) ? kOverloaded : kDone;
}

/// Prints; a full or closed output must not pass for success.
bool print_result(const run::SessionResult& result, Output output) {
  if (output == Output::kJson) {
    record::Json json = record::to_json(result.record);
    json["folder"] = result.folder.string();
    say(stdout, "{}\n", json.dump(2));
  } else {
    say(stdout, "\n{}{:<11}{}\n", report::run_summary(result.record), "record",
        result.folder.string());
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    say(stderr, "raftperf: standard output: {}; the record is in {}\n", std::strerror(errno),
        result.folder.string());
    return false;
  }
  return true;
}

}  // namespace

RunCommand::RunCommand(CLI::App& root) : options_(run_options()) {
  app_ = root.add_subcommand("run", "Measure one system once, and judge the measurement");
  app_->add_option("system", system_, "a folder of systems/, or sim: a simulated server")
      ->required();
  app_->add_option("--config", config_file_, "TOML file with these options as keys")
      ->type_name("FILE");
  app_->add_flag("--json", json_, "print the record on standard output");
  options_.add_to(*app_);
}

int RunCommand::execute(const Place& place) {
  if (const auto resolved = options_.resolve(config_file_); !resolved) {
    say(stderr, "raftperf: {}\n", resolved.error());
    return kUsage;
  }
  const auto session = plan_session(options_, system_, place);
  if (!session) {
    say(stderr, "raftperf: {}\n", session.error());
    return kUsage;
  }
  run::Signals signals;
  const Interrupts interrupts(signals);
  const Output output = json_ ? Output::kJson : Output::kText;
  ProgressLine progress(output);
  const run::SessionResult result = run::run_session(*session, signals, progress.callbacks());
  progress.close();
  if (result.error) {
    say(stderr, "raftperf: {}\n", result.error->message);
    if (signals.stopping()) {
      return kInterrupted;
    }
    return result.error->kind == run::SessionFailure::kUsage ? kUsage : kNoCluster;
  }
  const bool printed = print_result(result, output);
  const int status = status_of(result.record);
  return printed || status != kDone ? status : kInvalid;
}

}  // namespace raftperf::cli
