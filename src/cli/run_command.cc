// SPDX-License-Identifier: Apache-2.0
#include "cli/run_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <mutex>

#include "cli/exit_status.h"
#include "cli/interrupt.h"
#include "report/numbers.h"
#include "report/run_summary.h"

namespace raftperf::cli {
namespace {

/// One live line on a terminal; in a pipe one line a second. On standard error where
/// standard output carries JSON.
class ProgressLine {
 public:
  explicit ProgressLine(Output output)
      : stream_(output == Output::kJson ? stderr : stdout),
        live_(::isatty(::fileno(stream_)) == 1) {}

  void show(const run::Progress& progress) {
    const std::lock_guard lock(mutex_);
    const double seconds = std::chrono::duration<double>(progress.elapsed).count();
    const std::string latency =
        progress.latency_us ? fmt::format("{:.0f}", *progress.latency_us) : "-";
    const std::string text =
        fmt::format("{:5.0f} s {:<11} at qps={:.0f} latency={} in flight {}", seconds,
                    to_string(progress.phase), progress.qps, latency, progress.in_flight);
    if (live_) {
      fmt::print(stream_, "\r\x1b[K{}", text);
      open_line_ = true;
    } else {
      fmt::print(stream_, "{}\n", text);
    }
    std::fflush(stream_);
  }

  void notice(const std::string& text) {
    const std::lock_guard lock(mutex_);
    close_line();
    fmt::print(stderr, "raftperf: {}\n", text);
  }

  void close() {
    const std::lock_guard lock(mutex_);
    close_line();
  }

 private:
  void close_line() {
    if (open_line_) {
      fmt::print(stream_, "\r\x1b[K");
      std::fflush(stream_);
      open_line_ = false;
    }
  }

  std::mutex mutex_;
  std::FILE* stream_;
  bool live_;
  bool open_line_ = false;
};

int status_of(const record::RunRecord& record) {
  if (record.window.interrupted) {
    return kInterrupted;
  }
  if (record.rig.status == load::to_string(load::RigStatus::kInvalid)) {
    return kInvalid;
  }
  return record.load.status == load::to_string(load::LoadStatus::kOverloaded) ? kOverloaded
                                                                              : kDone;
}

/// Prints; a full or closed output must not pass for success.
bool print_result(const run::SessionResult& result, Output output) {
  if (output == Output::kJson) {
    record::Json json = record::to_json(result.record);
    json["folder"] = result.folder.string();
    fmt::print(stdout, "{}\n", json.dump(2));
  } else {
    fmt::print(stdout, "\n{}{:<11}{}\n", report::run_summary(result.record), "record",
               result.folder.string());
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    fmt::print(stderr, "raftperf: standard output: {}; the record is in {}\n",
               std::strerror(errno), result.folder.string());
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
    fmt::print(stderr, "raftperf: {}\n", resolved.error());
    return kUsage;
  }
  const auto session = plan_session(options_, system_, place);
  if (!session) {
    fmt::print(stderr, "raftperf: {}\n", session.error());
    return kUsage;
  }
  run::Signals signals;
  const Interrupts interrupts(signals);
  const Output output = json_ ? Output::kJson : Output::kText;
  ProgressLine progress(output);
  const run::SessionResult result = run::run_session(
      *session, signals,
      {.progress = [&](const run::Progress& now) { progress.show(now); },
       .notice = [&](const std::string& text) { progress.notice(text); }});
  progress.close();
  if (result.error) {
    fmt::print(stderr, "raftperf: {}\n", result.error->message);
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
