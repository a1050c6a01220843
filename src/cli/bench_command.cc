// SPDX-License-Identifier: Apache-2.0
#include "cli/bench_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "cli/exit_status.h"
#include "cli/interrupt.h"
#include "cli/progress_line.h"
#include "cli/run_command.h"
#include "cli/selftest_command.h"
#include "report/run_table.h"

namespace raftperf::cli {
namespace {

// Of the closed loop's rate: from nearly idle to well inside what it carried.
constexpr std::array kLadder{0.01, 0.03, 0.10, 0.30};

struct Step {
  record::RunRecord record;
  std::filesystem::path folder;
};

/// The steps of one bench, in order, with what they gave.
class Bench {
 public:
  Bench(const Place& place, run::Signals& signals, ProgressLine& progress)
      : place_(place), signals_(signals), progress_(progress) {}

  /// A closed loop, then the ladder. The exit status of the first step that could not
  /// be done, else kDone: what a step measured is in the table.
  int measure(const std::string& system, const std::vector<std::string>& common) {
    if (const int status = step(system, common); status != kDone) {
      return status;
    }
    const double closed = steps_.back().record.window.achieved_per_s;
    for (const double share : kLadder) {
      const auto rate = std::max<std::uint64_t>(10, static_cast<std::uint64_t>(closed * share));
      auto words = common;
      words.insert(words.end(), {"--mode", "open", "--rate", std::to_string(rate)});
      if (const int status = step(system, words); status != kDone) {
        return status;
      }
    }
    return kDone;
  }

  [[nodiscard]] const std::vector<Step>& steps() const noexcept { return steps_; }

 private:
  int step(const std::string& system, const std::vector<std::string>& words) {
    Options options(run_options());
    CLI::App app;
    options.add_to(app);
    // CLI11 takes the words from the back.
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    if (const auto resolved = options.resolve(""); !resolved) {
      say(stderr, "raftperf: {}\n", resolved.error());
      return kUsage;
    }
    const auto session = plan_session(options, system, place_);
    if (!session) {
      say(stderr, "raftperf: {}\n", session.error());
      return kUsage;
    }
    say(stdout, "\n{}: {}\n", system, fmt::join(words, " "));
    std::fflush(stdout);
    const auto result = run::run_session(*session, signals_, progress_.callbacks());
    progress_.close();
    if (result.error) {
      say(stderr, "raftperf: {}\n", result.error->message);
      return signals_.stopping() ? kInterrupted : kNoCluster;
    }
    steps_.push_back({.record = result.record, .folder = result.folder});
    return signals_.stopping() ? kInterrupted : kDone;
  }

  const Place& place_;
  run::Signals& signals_;
  ProgressLine& progress_;
  std::vector<Step> steps_;
};

void print(const std::vector<Step>& steps) {
  std::vector<record::RunRecord> records;
  for (const Step& step : steps) {
    records.push_back(step.record);
  }
  say(stdout, "\n{}\n", report::run_table(records));
  for (const Step& step : steps) {
    say(stdout, "{}\n", step.folder.string());
  }
}

}  // namespace

BenchCommand::BenchCommand(CLI::App& root) {
  app_ = root.add_subcommand("bench", "Selftest, then a closed loop and a ladder of rates");
  app_->add_option("systems", systems_, "folders of systems/ [libraft]");
  app_->add_option("--warmup", warmup_, "of each run [2s]");
  app_->add_option("--measure", measure_, "of each run [10s]");
}

int BenchCommand::execute(const Place& place) const {
  // One file for several runs would keep the last.
  ::unsetenv("RAFTPERF_OUT");
  ::unsetenv("RAFTPERF_HDR_OUT");
  const int tested = run_selftest(place, Output::kText);
  if (tested != kDone) {
    return tested;
  }
  run::Signals signals;
  const Interrupts interrupts(signals);
  ProgressLine progress(Output::kText);
  Bench bench(place, signals, progress);
  int status = kDone;
  for (const std::string& system : systems_) {
    status = bench.measure(system, {"--warmup", warmup_, "--measure", measure_});
    if (status != kDone) {
      break;
    }
  }
  if (!bench.steps().empty()) {
    print(bench.steps());
  }
  return status;
}

}  // namespace raftperf::cli
