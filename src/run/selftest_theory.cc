// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "run/queueing.h"
#include "run/selftest.h"
#include "run/simulation.h"

namespace raftperf::run {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kHertz = load::MicroHertz::kPerHertz;

double millis(std::optional<load::Duration> duration) {
  return duration ? std::chrono::duration<double, std::milli>(*duration).count() : NAN;
}

Check compare(const std::string& name, double expected_ms, std::optional<load::Duration> measured,
              double tolerance) {
  const double measured_ms = millis(measured);
  const bool close = std::abs(measured_ms - expected_ms) <= tolerance * expected_ms;
  return {.name = name,
          .expected = fmt::format("{:.4g} ms within {:.1f} %", expected_ms, 100 * tolerance),
          .measured = fmt::format("{:.4g} ms", measured_ms),
          .outcome = close ? Check::Outcome::kPassed : Check::Outcome::kFailed};
}

Check equal(const std::string& name, std::uint64_t expected, std::uint64_t measured) {
  return {.name = name,
          .expected = std::to_string(expected),
          .measured = std::to_string(measured),
          .outcome = expected == measured ? Check::Outcome::kPassed : Check::Outcome::kFailed};
}

SimulationOptions open_loop(std::uint64_t rate, load::Duration measure) {
  SimulationOptions options;
  options.worker.mode = load::LoadMode::kOpen;
  options.worker.leader = 0;
  options.schedule.rate.count = rate * kHertz;
  options.schedule.measure = measure;
  options.slots = 100'000;
  return options;
}

void stall(std::vector<Check>& checks) {
  SimulationOptions options = open_loop(1000, 10s);
  options.server.server = {
      .service_time = 500us, .servers = 1, .stalls = {{.at = 2s, .length = 500ms}}};
  const auto result = simulate(options);
  constexpr double kRho = 0.5;
  checks.push_back(compare("stall of 500 ms at rho 0.5: p99",
                           stall_quantile(500, 10'000, kRho, 0.99),
                           result->summary.histograms.response.at(load::kP99), 0.01));
  checks.push_back(
      compare("the same: maximum", 500.5, result->summary.histograms.response.max(), 0.005));
  checks.push_back(equal("the same: scheduled", 10'000, result->summary.books.scheduled));
  checks.push_back(
      equal("the same: applied by the server", result->summary.books.ok, result->applied));
}

void queue(std::vector<Check>& checks, drivers::ServiceTime distribution, const char* name,
           double (*quantile)(double, double)) {
  constexpr double kRho = 0.5;
  constexpr double kServiceMs = 0.1;
  SimulationOptions options = open_loop(5000, 100s);
  options.schedule.arrival = load::ArrivalPattern::kPoisson;
  options.server.server = {.service_time = 100us, .distribution = distribution, .servers = 1};
  const auto result = simulate(options);
  const load::Histogram& response = result->summary.histograms.response;
  for (const load::Quantile* q :
       {&load::kQuantiles[0], &load::kQuantiles[1], &load::kQuantiles[2]}) {
    const double p = static_cast<double>(q->numerator) / static_cast<double>(q->denominator);
    checks.push_back(compare(fmt::format("{} at rho 0.5: {}", name, q->name),
                             quantile(kRho, p) * kServiceMs, response.at(*q), 0.03));
  }
}

void counts(std::vector<Check>& checks) {
  SimulationOptions options = open_loop(7, 10s);
  options.server.server.service_time = 1ms;
  options.workers = 3;
  options.slots = 30;
  checks.push_back(equal("7/s for 10 s on 3 workers: scheduled", 70,
                         simulate(options)->summary.books.scheduled));
  options = open_loop(1000, 10s);
  options.schedule.burst = 7;
  options.server.server.service_time = 1ms;
  checks.push_back(equal("1000/s in bursts of 7 for 10 s: scheduled", 10'000,
                         simulate(options)->summary.books.scheduled));
  options = open_loop(1000, 10s);
  options.server.server.service_time = 1ms;
  options.server.error_every = 4;
  checks.push_back(equal("every 4th answer an error: rejected", 2'500,
                         simulate(options)->summary.books.rejected));
}

}  // namespace

std::vector<Check> check_against_theory() {
  std::vector<Check> checks;
  counts(checks);
  stall(checks);
  queue(checks, drivers::ServiceTime::kExponential, "M/M/1", mm1_response_quantile);
  queue(checks, drivers::ServiceTime::kFixed, "M/D/1", md1_response_quantile);
  return checks;
}

}  // namespace raftperf::run
