// SPDX-License-Identifier: Apache-2.0
#include "tests/scenarios/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "base/units.h"
#include "drivers/sim/sim_driver.h"
#include "load/judgement.h"
#include "load/summary.h"
#include "run/simulation.h"

namespace raftperf::tests {
namespace {

using load::Duration;
using load::TimePoint;

/// Reads the settings of a subject; remembers the first mistake and refuses leftovers.
class Reader {
 public:
  explicit Reader(Scenario::Settings settings) : settings_(std::move(settings)) {}

  template <typename T, typename Parse>
  void read(const char* key, T& to, Parse parse) {
    const auto found = settings_.find(key);
    if (found == settings_.end()) {
      return;
    }
    auto parsed = parse(found->second);
    if (!parsed) {
      error_ = fmt::format("{}: {}", key, parsed.error());
    } else {
      to = static_cast<T>(*parsed);
    }
    settings_.erase(found);
  }
  bool flag(const std::string& key) { return settings_.erase(key) > 0; }
  std::string error() const {
    return !error_.empty() || settings_.empty() ? error_ : "unknown: " + settings_.begin()->first;
  }

 private:
  Scenario::Settings settings_;
  std::string error_;
};

struct Setup {
  run::SimulationOptions run;
  load::Surroundings surroundings;
};
Result<double> parse_number(const std::string& text) {
  std::size_t end = 0;
  const double value = std::stod(text, &end);
  if (end != text.size()) {
    return Error{"not a number: " + text};
  }
  return value;
}

Result<load::OperationKind> parse_kind(const std::string& text) {
  for (const auto kind : {load::OperationKind::kAppend, load::OperationKind::kCompareAndSet}) {
    if (to_string(kind) == text) {
      return kind;
    }
  }
  return Error{"unknown operation " + text};
}

std::string read_load(const Scenario& scenario, Setup& setup) {
  auto settings = scenario.subject.at("load");
  const bool closed = settings.erase("closed") > 0;
  settings.erase("open");
  setup.run.worker.mode = closed ? load::LoadMode::kClosed : load::LoadMode::kOpen;
  Reader reader(settings);
  reader.read("rate", setup.run.schedule.rate.count, [](const auto& t) { return parse_rate(t); });
  reader.read("burst", setup.run.schedule.burst, [](const auto& t) { return parse_count(t); });
  reader.read("seed", setup.run.schedule.seed, [](const auto& t) { return parse_count(t); });
  reader.read("duration", setup.run.schedule.measure,
              [](const auto& t) { return parse_duration(t); });
  reader.read("warmup", setup.run.schedule.warmup, [](const auto& t) { return parse_duration(t); });
  reader.read("timeout", setup.run.worker.timeout, [](const auto& t) { return parse_duration(t); });
  reader.read("drain", setup.run.worker.drain, [](const auto& t) { return parse_duration(t); });
  reader.read("workers", setup.run.workers, [](const auto& t) { return parse_count(t); });
  reader.read("cap", setup.run.slots, [](const auto& t) { return parse_count(t); });
  reader.read("threads", setup.run.slots, [](const auto& t) { return parse_count(t); });
  reader.read("nodes", setup.run.worker.nodes, [](const auto& t) { return parse_count(t); });
  reader.read("leader", setup.run.worker.leader, [](const auto& t) { return parse_number(t); });
  reader.read("kind", setup.run.worker.workload.kind, parse_kind);
  if (reader.flag("poisson")) {
    setup.run.schedule.arrival = load::ArrivalPattern::kPoisson;
  }
  if (reader.flag("drop-without-leader")) {
    setup.run.worker.no_leader = load::NoLeaderPolicy::kDrop;
  }
  return reader.error();
}

std::string read_client(const Scenario& scenario, Setup& setup) {
  Reader reader(scenario.subject.at("client"));
  Duration at{0};
  Duration length{0};
  Duration every{0};
  Duration interrupt{0};
  reader.read("stall_at", at, [](const auto& t) { return parse_duration(t); });
  reader.read("stall_for", length, [](const auto& t) { return parse_duration(t); });
  reader.read("stall_every", every, [](const auto& t) { return parse_duration(t); });
  reader.read("interrupt_at", interrupt, [](const auto& t) { return parse_duration(t); });
  reader.read("gap", setup.run.gap, [](const auto& t) { return parse_duration(t); });
  const Duration end = setup.run.schedule.warmup + setup.run.schedule.measure;
  for (; length > Duration{0} && at < end; at += every) {
    setup.run.client_stalls.push_back({.at = at, .length = length});
    if (every == Duration{0}) {
      break;
    }
  }
  if (interrupt > Duration{0}) {
    setup.run.interrupt = interrupt;
  }
  return reader.error();
}

std::string read_surroundings(const Scenario& scenario, Setup& setup) {
  Reader reader(scenario.subject.at("surroundings"));
  reader.read("steal", setup.surroundings.steal_share, parse_number);
  reader.read("servers_cpu", setup.surroundings.servers_cpu_share, parse_number);
  reader.read("leader_changes", setup.surroundings.leader_changes_unplanned,
              [](const auto& t) { return parse_count(t); });
  reader.read("nodes_exited", setup.surroundings.nodes_exited_unplanned,
              [](const auto& t) { return parse_count(t); });
  reader.read("missing", setup.surroundings.acknowledged_missing,
              [](const auto& t) { return parse_count(t); });
  setup.surroundings.replicas_differ = reader.flag("replicas_differ");
  setup.surroundings.leader_elsewhere = reader.flag("leader_elsewhere");
  setup.surroundings.fault_planned = reader.flag("fault_planned");
  return reader.error();
}

std::string read_subject(const Scenario& scenario, const std::string& subject, Setup& setup) {
  if (subject == "load") {
    return read_load(scenario, setup);
  }
  if (subject == "client") {
    return read_client(scenario, setup);
  }
  if (subject == "surroundings") {
    return read_surroundings(scenario, setup);
  }
  auto options = drivers::SimDriver::read_settings(scenario.subject.at(subject));
  if (!options) {
    return options.error();
  }
  setup.run.server = *options;
  return {};
}

Result<Setup> read_setup(const Scenario& scenario) {
  Setup setup;
  setup.run.worker.leader = 0;
  std::size_t known = 0;
  // In this order: the client's stalls recur until the end of the load.
  for (const char* subject : {"load", "client", "server", "surroundings"}) {
    if (!scenario.subject.contains(subject)) {
      continue;
    }
    ++known;
    if (const std::string error = read_subject(scenario, subject, setup); !error.empty()) {
      return Error{std::string(subject) + ": " + error};
    }
  }
  if (known != scenario.subject.size()) {
    return Error{"unknown subject"};
  }
  return setup;
}

std::string duration_text(std::optional<Duration> duration) {
  if (!duration) {
    return "-";
  }
  const auto ns = static_cast<double>(duration->count());
  if (ns < 1e3) {
    return fmt::format("{:.3g}ns", ns);
  }
  if (ns < 1e6) {
    return fmt::format("{:.3g}us", ns / 1e3);
  }
  // 3 significant digits, without an exponent for 1000 to 9999 ms
  return ns < 1e10 ? fmt::format("{}ms", std::stod(fmt::format("{:.3g}", ns / 1e6)))
                   : fmt::format("{:.3g}s", ns / 1e9);
}

std::string books_text(const load::Books& books) {
  std::string text = fmt::format("scheduled {}  sent {}  ok {}  rejected {}", books.scheduled,
                                 books.sent, books.ok, books.rejected);
  for (std::size_t i = 0; i < load::kDropCount; ++i) {
    if (books.dropped[i] > 0) {
      text +=
          fmt::format("  dropped.{} {}", to_string(static_cast<load::Drop>(i)), books.dropped[i]);
    }
  }
  for (std::size_t i = 0; i < load::kUnknownCount; ++i) {
    if (books.unknown[i] > 0) {
      text += fmt::format("  unknown.{} {}", to_string(static_cast<load::Unknown>(i)),
                          books.unknown[i]);
    }
  }
  return text + "\n";
}

std::string histogram_text(std::string_view name, const load::Histogram& histogram) {
  return fmt::format("{:<8} p50 {}  p99 {}  max {}\n", name,
                     duration_text(histogram.at(load::kP50)),
                     duration_text(histogram.at(load::kP99)), duration_text(histogram.max()));
}

std::string findings_text(const std::vector<load::Finding>& reasons) {
  std::string text;
  for (const load::Finding& finding : reasons) {
    text += fmt::format("  {} {:.4g}>{:.4g}{}", finding.code, finding.measured, finding.limit,
                        finding.unit);
  }
  return text;
}

std::string counts_text(const load::Summary& summary) {
  std::string text;
  const auto add = [&](std::string_view name, std::uint64_t count) {
    if (count > 0) {
      text += fmt::format("  {} {}", name, count);
    }
  };
  add("resent", summary.counts.attempts - summary.books.sent);
  add("redirects", summary.counts.redirects);
  add("mismatches", summary.counts.mismatches);
  add("late_replies", summary.late_replies);
  add("at_cap", summary.counts.at_cap);
  add("unsent_at_start", summary.unsent_at_window_start);
  add("unanswered_at_start", summary.unanswered_at_window_start);
  return text.empty() ? text : "counts" + text + "\n";
}

std::string print(const load::Summary& summary, const load::Surroundings& surroundings) {
  std::string text = books_text(summary.books);
  if (summary.warmup_books.scheduled > 0) {
    text += "warmup " + books_text(summary.warmup_books);
  }
  text += counts_text(summary);
  const auto little = summary.little_ratio();
  text += fmt::format("achieved {:.6g}/s  little {}\n", summary.achieved_per_s(),
                      little ? fmt::format("{:.2f}", *little) : "-");
  if (summary.mode == load::LoadMode::kOpen) {
    text += histogram_text("response", summary.histograms.response);
  }
  text += histogram_text("service", summary.histograms.service);
  if (summary.mode == load::LoadMode::kOpen) {
    text += histogram_text("lag", summary.histograms.lag);
  }
  if (summary.books.ok != summary.books.scheduled) {
    text += fmt::format("lost=inf p50 {}  p99 {}\n",
                        duration_text(summary.at_if_lost_were_infinite(load::kP50)),
                        duration_text(summary.at_if_lost_were_infinite(load::kP99)));
  }
  if (!summary.imbalance.empty()) {
    text += "books " + summary.imbalance + "\n";
  }
  const load::RigJudgement rig = judge_rig(summary, surroundings);
  const load::LoadJudgement carried = judge_load(summary, surroundings);
  text += fmt::format("rig {}{}\n", to_string(rig.status), findings_text(rig.reasons));
  text += fmt::format("load {}{}\n", to_string(carried.status), findings_text(carried.reasons));
  return text;
}

void read_line(const std::string& line, Scenario& scenario) {
  std::istringstream words(line);
  std::string subject;
  words >> subject;
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    scenario.subject[subject][word.substr(0, equals)] =
        equals == std::string::npos ? "" : word.substr(equals + 1);
  }
}

}  // namespace

Result<std::vector<Scenario>> read_scenarios(std::string_view text) {
  std::vector<Scenario> scenarios;
  std::istringstream lines{std::string(text)};
  Scenario scenario;
  bool in_expected = false;
  const auto finish = [&] {
    if (in_expected) {
      scenarios.push_back(std::exchange(scenario, {}));
      in_expected = false;
    }
  };
  for (std::string line; std::getline(lines, line);) {
    if (in_expected && line.empty()) {
      finish();
    } else if (in_expected) {
      scenario.expected += line + "\n";
    } else if (line == "----") {
      in_expected = true;
    } else {
      scenario.text += line + "\n";
      if (!line.empty() && line.front() != '#') {
        read_line(line, scenario);
      }
    }
  }
  finish();
  if (!scenario.subject.empty()) {
    return Error{"the last block has no ----"};
  }
  return scenarios;
}

Result<std::string> run_scenario(const Scenario& scenario) {
  auto setup = read_setup(scenario);
  if (!setup) {
    return Error{setup.error()};
  }
  const auto result = run::simulate(setup->run);
  if (!result) {
    return Error{result.error()};
  }
  return print(result->summary, setup->surroundings) + fmt::format("applied {}\n", result->applied);
}

}  // namespace raftperf::tests
