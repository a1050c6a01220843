// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "run/run.h"
#include "run/selftest.h"
#include "stub/arrival_log.h"
#include "stub/stub_process.h"

namespace raftperf::run {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kRate = 2000;

double micros(std::optional<load::Duration> duration) {
  return duration ? std::chrono::duration<double, std::micro>(*duration).count() : NAN;
}

Check check(const std::string& name, const std::string& expected, const std::string& measured,
            bool passed) {
  return {.name = name,
          .expected = expected,
          .measured = measured,
          .outcome = passed ? Check::Outcome::kPassed : Check::Outcome::kFailed};
}

Check equal(const std::string& name, std::uint64_t expected, std::uint64_t measured) {
  return check(name, std::to_string(expected), std::to_string(measured), expected == measured);
}

/// What the stub saw of a run: its counters, and its arrivals in order.
struct StubView {
  nlohmann::json counters;
  std::vector<stub::Arrival> arrivals;
};

struct StubRun {
  RunResult rig;
  StubView stub;
};

RunPlan plan_for(const net::Endpoint& endpoint, load::Duration measure) {
  RunPlan plan;
  plan.mode = load::LoadMode::kOpen;
  plan.schedule.rate.count = kRate * load::MicroHertz::kPerHertz;
  plan.schedule.measure = measure;
  plan.outstanding = 5000;
  plan.leader = 0;
  // The stub needs a core, and a machine may have only two: block, whatever it has.
  plan.pace = Pace::kBlock;
  plan.driver.nodes = {endpoint};
  return plan;
}

/// One open-loop run against a stub that was started with `arguments`.
Result<StubRun> run_against(const std::filesystem::path& program,
                            const std::vector<std::string>& arguments, load::Duration measure) {
  auto stub = stub::StubProcess::start(program, arguments);
  if (!stub) {
    return Error{"raftperf-stub: " + stub.error()};
  }
  const auto factory = drivers::find_driver("wire", {});
  const Signals signals;
  auto rig = execute(plan_for(stub->endpoint(), measure), **factory, signals, {});
  if (!rig) {
    return Error{rig.error()};
  }
  stub->stop();
  auto arrivals = stub::read_arrival_log(stub->arrival_log());
  if (!arrivals) {
    return Error{arrivals.error()};
  }
  return StubRun{.rig = *std::move(rig),
                 .stub = {.counters = stub->counters_file(), .arrivals = *std::move(arrivals)}};
}

void compare_books(const StubRun& run, std::uint64_t scheduled, std::vector<Check>& checks) {
  const load::Books& books = run.rig.summary.books;
  checks.push_back(equal("stub: scheduled", scheduled, books.scheduled));
  checks.push_back(check("stub: the books close", "yes",
                         run.rig.summary.imbalance.empty() ? "yes" : run.rig.summary.imbalance,
                         run.rig.summary.imbalance.empty()));
  checks.push_back(equal("stub: sent = received by the stub",
                         run.stub.counters.value("received", std::uint64_t{0}), books.sent));
  checks.push_back(equal("stub: ok = applied by the stub",
                         run.stub.counters.value("applied", std::uint64_t{0}), books.ok));
}

/// The i-th arrival cannot come before the i-th intended start, and the median of its
/// lateness holds our own lag and the way: both are compared with what we recorded.
void compare_arrivals(const StubRun& run, std::vector<Check>& checks) {
  const auto schedule = *load::ArrivalSchedule::create(
      {.rate = {.count = kRate * load::MicroHertz::kPerHertz}, .measure = 2s});
  const std::int64_t start = run.rig.start.time_since_epoch().count();
  std::vector<std::int64_t> late;
  for (std::size_t i = 0; i < run.stub.arrivals.size(); ++i) {
    late.push_back(static_cast<std::int64_t>(run.stub.arrivals[i].ns) - start -
                   schedule.offset(i).count());
  }
  if (late.empty()) {
    checks.push_back(check("stub: arrivals", "some", "none", false));
    return;
  }
  std::sort(late.begin(), late.end());
  const double median_us = static_cast<double>(late[late.size() / 2]) / 1e3;
  const auto lag = run.rig.summary.histograms.lag.at(load::kP50);
  const auto response = run.rig.summary.histograms.response.at(load::kP50);
  checks.push_back(check("stub: no arrival before its due instant", ">= 0 us",
                         fmt::format("{:.1f} us", static_cast<double>(late.front()) / 1e3),
                         late.front() >= 0));
  checks.push_back(check(
      "stub: median lateness of arrivals",
      fmt::format("{:.1f} (our lag) to {:.1f} us (our response)", micros(lag), micros(response)),
      fmt::format("{:.1f} us", median_us),
      median_us >= micros(lag) && median_us <= micros(response)));
}

void note_machine(const StubRun& run, std::vector<Check>& checks) {
  const auto lag = run.rig.summary.histograms.lag.at(load::kP99);
  const auto gap = run.rig.summary.turn_gap.at(load::kP99);
  checks.push_back({.name = "this machine at 2000/s: lag p99",
                    .expected = "below 50 us on a quiet machine",
                    .measured = fmt::format("{:.1f} us", micros(lag)),
                    .outcome = Check::Outcome::kNoted});
  checks.push_back({.name = "this machine at 2000/s: turn gap p99",
                    .expected = "below 100 us on a quiet machine",
                    .measured = fmt::format("{:.1f} us", micros(gap)),
                    .outcome = Check::Outcome::kNoted});
}

void delayed(const std::filesystem::path& program, std::vector<Check>& checks) {
  const auto run = run_against(program, {"--delay", "1ms"}, 2s);
  if (!run) {
    checks.push_back(check("stub with a delay of 1 ms", "runs", run.error(), false));
    return;
  }
  compare_books(*run, 2 * kRate, checks);
  compare_arrivals(*run, checks);
  const auto service = run->rig.summary.histograms.service.at(load::kP50);
  checks.push_back(check("stub with a delay of 1 ms: service p50", "at least 1000 us",
                         fmt::format("{:.1f} us", micros(service)), micros(service) >= 1000));
  note_machine(*run, checks);
}

void frozen(const std::filesystem::path& program, std::vector<Check>& checks) {
  const auto run = run_against(program, {"--freeze", "1s:500ms"}, 3s);
  if (!run) {
    checks.push_back(check("stub that freezes for 500 ms", "runs", run.error(), false));
    return;
  }
  const load::Summary& summary = run->rig.summary;
  checks.push_back(equal("freeze of 500 ms: scheduled", 3 * kRate, summary.books.scheduled));
  const double max_ms = micros(summary.histograms.response.max()) / 1e3;
  checks.push_back(check("freeze of 500 ms: response max", "at least 500 ms",
                         fmt::format("{:.1f} ms", max_ms), max_ms >= 500));
  const double p90_ms = micros(summary.histograms.response.at(load::kQuantiles[1])) / 1e3;
  // A sixth of the operations is due during the freeze: s - (1 - p) T = 200 ms at p90.
  checks.push_back(check("freeze of 500 ms: response p90", "at least 195 ms",
                         fmt::format("{:.1f} ms", p90_ms), p90_ms >= 195));
}

void faulty(const std::filesystem::path& program, std::vector<Check>& checks) {
  const auto run = run_against(program, {"--error-every", "10"}, 1s);
  if (!run) {
    checks.push_back(check("stub with errors", "runs", run.error(), false));
    return;
  }
  checks.push_back(
      equal("every 10th an error: rejected", kRate / 10, run->rig.summary.books.rejected));
  checks.push_back(equal("every 10th an error: ok = applied",
                         run->stub.counters.value("applied", std::uint64_t{0}),
                         run->rig.summary.books.ok));
}

}  // namespace

std::vector<Check> check_against_stub(const std::filesystem::path& stub_program) {
  std::vector<Check> checks;
  delayed(stub_program, checks);
  frozen(stub_program, checks);
  faulty(stub_program, checks);
  return checks;
}

}  // namespace raftperf::run
