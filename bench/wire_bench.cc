// SPDX-License-Identifier: Apache-2.0
#include "bench/wire_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "bench/null_driver.h"
#include "drivers/wire/wire_driver.h"
#include "run/run.h"
#include "stub/stub_process.h"

namespace raftperf::bench {
namespace {

using load::LoadMode;
using run::Pace;

constexpr std::uint64_t kHertz = load::MicroHertz::kPerHertz;

struct Row {
  std::string name;
  run::RunPlan plan;
  std::string goal;
  bool null_driver = false;
};

/// What a row is compared by.
struct Measured {
  double per_s = 0;
  double cpu_ns = 0;  ///< Of the client's thread, an operation.
};

Result<drivers::DriverPtr> create_null(const drivers::DriverConfig&) {
  return drivers::DriverPtr(std::make_unique<NullDriver>());
}
constexpr drivers::DriverFactory kNull{.protocol = "null", .create = create_null};
constexpr drivers::DriverFactory kWire{.protocol = "wire", .create = drivers::WireDriver::create};

run::RunPlan base_plan(const net::Endpoint& endpoint) {
  run::RunPlan plan;
  plan.schedule = {.warmup = std::chrono::milliseconds{500}, .measure = std::chrono::seconds{2}};
  plan.pace = Pace::kSpin;
  plan.core_of_its_own = true;
  plan.leader = 0;
  plan.driver.nodes = {endpoint};
  return plan;
}

run::RunPlan closed(const net::Endpoint& endpoint, std::uint32_t connections,
                    std::uint32_t outstanding, load::SendStamp stamp) {
  run::RunPlan plan = base_plan(endpoint);
  plan.driver.connections = connections;
  plan.outstanding = outstanding;
  plan.send_stamp = stamp;
  return plan;
}

/// A spinning client's CPU includes its waiting for the server; this one's does not.
run::RunPlan blocking(run::RunPlan plan) {
  plan.pace = Pace::kBlock;
  return plan;
}

run::RunPlan open(const net::Endpoint& endpoint, std::uint64_t rate, Pace pace) {
  run::RunPlan plan = base_plan(endpoint);
  plan.mode = LoadMode::kOpen;
  plan.schedule.rate = {.count = rate * kHertz};
  plan.outstanding = static_cast<std::uint32_t>(std::max<std::uint64_t>(1000, rate / 10));
  plan.pace = pace;
  return plan;
}

std::string microseconds(const load::Histogram& histogram, const load::Quantile& quantile) {
  const auto value = histogram.at(quantile);
  return value ? fmt::format("{:.1f}", static_cast<double>(value->count()) / 1e3) : "-";
}

std::string load_average() {
  std::array<double, 3> loads{};
  return ::getloadavg(loads.data(), 3) > 0 ? fmt::format("{:.2f}", loads[0]) : "unknown";
}

void print_header() {
  fmt::print("{:<34}{:>10}{:>9}{:>8}{:>8}{:>9}{:>9}{:>9}{:>9}  {}\n", "", "op/s", "cpu ns/op",
             "fr/send", "fr/recv", "lag p50", "lag p99", "lat p50", "lat p99", "goal");
}

Measured run_row(const Row& row) {
  const auto result = run::execute(row.plan, row.null_driver ? kNull : kWire, run::Signals{}, {});
  if (!result) {
    fmt::print("{:<34}{}\n", row.name, result.error());
    return {};
  }
  const load::Summary& summary = result->summary;
  const auto& transport = result->transport;
  const auto ratio = [](std::uint64_t a, std::uint64_t b) {
    return b == 0 ? std::string("-")
                  : fmt::format("{:.1f}", static_cast<double>(a) / static_cast<double>(b));
  };
  const Measured measured{
      .per_s = summary.achieved_per_s(),
      .cpu_ns = static_cast<double>(result->worker_cpu_time.front().count()) /
                static_cast<double>(std::max<std::uint64_t>(1, summary.acknowledged))};
  fmt::print("{:<34}{:>10.0f}{:>9.0f}{:>8}{:>8}{:>9}{:>9}{:>9}{:>9}  {}\n", row.name,
             measured.per_s, measured.cpu_ns, ratio(transport.frames_sent, transport.sends),
             ratio(transport.frames_received, transport.receives),
             microseconds(summary.histograms.lag, load::kP50),
             microseconds(summary.histograms.lag, load::kP99),
             microseconds(summary.reported(), load::kP50),
             microseconds(summary.reported(), load::kP99), row.goal);
  std::fflush(stdout);
  return measured;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Rows in turn, several times, so that what the machine does meanwhile hits all alike.
void print_closed_rows(const net::Endpoint& endpoint) {
  using load::SendStamp;
  const std::vector<Row> rows{
      {.name = "closed, 4 connections x 100",
       .plan = closed(endpoint, 4, 400, SendStamp::kOperation),
       .goal = ">= 3 M/s, <= 300 ns"},
      {.name = "  the same, stamp per batch",
       .plan = closed(endpoint, 4, 400, SendStamp::kBatch),
       .goal = ""},
      {.name = "  the same, null driver",
       .plan = closed(endpoint, 4, 400, SendStamp::kOperation),
       .goal = ">= 10 M/s",
       .null_driver = true},
      {.name = "  the same, block",
       .plan = blocking(closed(endpoint, 4, 400, SendStamp::kOperation)),
       .goal = "cpu without waiting: <= 300 ns"},
      {.name = "closed, 4 connections x 1000",
       .plan = closed(endpoint, 4, 4000, SendStamp::kOperation),
       .goal = ""},
      {.name = "closed, 4 connections x 25",
       .plan = closed(endpoint, 4, 100, SendStamp::kOperation),
       .goal = ""},
  };
  std::vector<std::vector<double>> cpu(rows.size());
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      cpu[i].push_back(run_row(rows[i]).cpu_ns);
    }
  }
  fmt::print("medians of cpu: wire / null path {:.2f}, stamp per operation / per batch {:.2f}\n\n",
             median(cpu[0]) / median(cpu[2]), median(cpu[0]) / median(cpu[1]));
}

void print_open_rows(const net::Endpoint& endpoint) {
  for (const Pace pace : {Pace::kSpin, Pace::kBlock}) {
    for (const std::uint64_t rate : {1'000U, 10'000U, 50'000U, 200'000U, 500'000U, 1'000'000U}) {
      const bool has_goal = pace == Pace::kSpin && rate == 200'000;
      (void)run_row({.name = fmt::format("open, {}, {}/s", to_string(pace), rate),
                     .plan = open(endpoint, rate, pace),
                     .goal = has_goal ? "lag p99 < 25 us on an idle machine" : ""});
    }
  }
}

/// Without its arrival log, which at these rates would fill the disk.
Result<stub::StubProcess> start_stub() {
  return stub::StubProcess::start({"--arrival-log", "/dev/null"});
}

/// Of this process, in MiB.
double resident_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmRSS:") {
      double kib = 0;
      status >> kib;
      return kib / 1024;
    }
  }
  return 0;
}

}  // namespace

bool print_wire_table() {
  const auto stub = start_stub();
  if (!stub) {
    fmt::print(stderr, "raftperf-microbench: {}\n", stub.error());
    return false;
  }
  fmt::print("\nwire driver, stub in another process; us where not said; load average {}\n",
             load_average());
  print_header();
  print_closed_rows(stub->endpoint());
  print_open_rows(stub->endpoint());
  fmt::print("load average {}\n", load_average());
  return true;
}

bool run_profile_row(const std::string& endpoint) {
  const auto stub = net::parse_endpoint(endpoint);
  if (!stub) {
    fmt::print(stderr, "raftperf-microbench: {}\n", stub.error());
    return false;
  }
  print_header();
  (void)run_row({.name = "closed, 4 connections x 100",
                 .plan = blocking(closed(*stub, 4, 400, load::SendStamp::kOperation)),
                 .goal = ""});
  return true;
}

bool print_memory_table() {
  const auto stub = start_stub();
  if (!stub) {
    fmt::print(stderr, "raftperf-microbench: {}\n", stub.error());
    return false;
  }
  run::RunPlan plan = closed(stub->endpoint(), 4, 400, load::SendStamp::kOperation);
  plan.schedule.measure = std::chrono::seconds{60};
  const double before = resident_mib();
  double after_10_s = 0;
  double last = 0;
  const auto result =
      run::execute(plan, kWire, run::Signals{}, {.progress = [&](const run::Progress& progress) {
                     last = resident_mib();
                     if (after_10_s == 0 && progress.elapsed > std::chrono::seconds{10}) {
                       after_10_s = last;
                     }
                   }});
  if (!result) {
    fmt::print(stderr, "raftperf-microbench: {}\n", result.error());
    return false;
  }
  fmt::print("resident MiB: before {:.1f}, after 10 s {:.1f}, after 60 s {:.1f} ({} operations)\n",
             before, after_10_s, last, result->summary.acknowledged);
  return true;
}

}  // namespace raftperf::bench
