// SPDX-License-Identifier: Apache-2.0
#include "drivers/sim/sim_driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/nearest.h"
#include "base/units.h"

namespace raftperf::drivers {

using load::Completion;
using load::Duration;
using load::Operation;
using load::Outcome;
using load::Reason;
using load::TimePoint;

Result<void> SimDriver::connect(load::CompletionSink& sink) {
  sink_ = &sink;
  start_ = sink.arrived().time();
  server_.emplace(options_.server, start_);
  transport_.connections_asked = 1;
  transport_.connections_live = 1;
  return {};
}

std::size_t SimDriver::submit(std::span<const Operation> operations) noexcept {
  const TimePoint now = sink_->arrived().time();
  if (inside(options_.refused, now)) {
    return 0;
  }
  for (const Operation& operation : operations) {
    serve(operation, now);
  }
  ++transport_.sends;
  transport_.frames_sent += operations.size();
  return operations.size();
}

void SimDriver::serve(const Operation& operation, TimePoint now) {
  const std::uint64_t number = ++received_;
  const auto falls_on = [number](std::uint64_t every) { return every != 0 && number % every == 0; };
  Answer answer{.at = server_->answer(now), .order = number, .completion = {}};
  Completion& completion = answer.completion;
  completion.id = operation.id;
  if (inside(options_.held, now) || falls_on(options_.drop_every)) {
    return;
  }
  const bool leaderless = inside(options_.no_leader, now);
  const bool circling = inside(options_.circling, now);
  if (leaderless || circling || operation.node != options_.leader) {
    completion.outcome = Outcome::kRejected;
    completion.reason = Reason::kNotLeader;
    if (circling) {
      completion.leader_hint = static_cast<int>((operation.node + 1) % options_.nodes);
    } else if (!leaderless) {
      completion.leader_hint = static_cast<int>(options_.leader);
    }
  } else if (falls_on(options_.error_every)) {
    completion.outcome = Outcome::kRejected;
    completion.reason = Reason::kError;
  } else {
    ++applied_;
    completion.value = operation.value;
    if (operation.kind == load::OperationKind::kCompareAndSet) {
      std::uint64_t& value = values_[operation.key];
      if (value != operation.expected || falls_on(options_.mismatch_every)) {
        completion.reason = Reason::kMismatch;
        completion.value = value;
      } else {
        value = operation.value;
      }
    }
  }
  answers_.push(answer);
}

void SimDriver::poll() noexcept {
  if (answers_.empty()) {
    return;
  }
  const load::Arrival arrival = sink_->arrived();
  std::uint64_t completed = 0;
  while (!answers_.empty() && answers_.top().at <= arrival.time()) {
    sink_->complete(answers_.top().completion, arrival);
    answers_.pop();
    ++completed;
  }
  transport_.frames_received += completed;
  transport_.receives += completed > 0 ? 1 : 0;
}

void SimDriver::reconnect(std::uint32_t node) noexcept { sink_->link_up(node, sink_->arrived()); }

TimePoint SimDriver::next_answer() const noexcept {
  return answers_.empty() ? load::kNever : answers_.top().at;
}

bool SimDriver::inside(const std::vector<SimPeriod>& periods, TimePoint now) const noexcept {
  return std::any_of(periods.begin(), periods.end(), [&](const SimPeriod& period) {
    return now >= start_ + period.at && now < start_ + period.at + period.length;
  });
}

namespace {

Result<std::vector<SimPeriod>> parse_periods(std::string_view text) {
  std::vector<SimPeriod> periods;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    const std::size_t colon = one.find(':');
    if (colon == std::string_view::npos) {
      return Error{fmt::format("'{}' is not AT:FOR; example: 2s:500ms", one)};
    }
    const auto at = parse_duration(one.substr(0, colon));
    const auto length = parse_duration(one.substr(colon + 1));
    if (!at || !length) {
      return Error{!at ? at.error() : length.error()};
    }
    periods.push_back({.at = *at, .length = *length});
    text.remove_prefix(std::min(text.size(), one.size() + 1));
  }
  return periods;
}

template <typename T>
Result<void> assign(T& to, const Result<T>& parsed) {
  if (!parsed) {
    return Error{parsed.error()};
  }
  to = *parsed;
  return {};
}

Result<void> assign_number(std::uint32_t& to, std::string_view text, std::uint32_t min) {
  constexpr std::uint32_t kMax = 1'000'000;
  const auto parsed = parse_count(text);
  if (!parsed || *parsed < min || *parsed > kMax) {
    return Error{fmt::format("'{}' is not a whole number from {} to {}", text, min, kMax)};
  }
  to = static_cast<std::uint32_t>(*parsed);
  return {};
}

Result<void> assign_periods(std::vector<SimPeriod>& to, std::string_view text) {
  auto periods = parse_periods(text);
  if (!periods) {
    return Error{periods.error()};
  }
  to = *std::move(periods);
  std::sort(to.begin(), to.end(),
            [](const SimPeriod& a, const SimPeriod& b) { return a.at < b.at; });
  for (std::size_t i = 1; i < to.size(); ++i) {
    if (to[i].at < to[i - 1].at + to[i - 1].length) {
      return Error{fmt::format("'{}' has periods that overlap", text)};
    }
  }
  return {};
}

Result<void> assign_distribution(ServiceTime& to, std::string_view text) {
  if (text != "fixed" && text != "exponential") {
    return Error{fmt::format("'{}' is neither fixed nor exponential", text)};
  }
  to = text == "fixed" ? ServiceTime::kFixed : ServiceTime::kExponential;
  return {};
}

struct Setting {
  std::string_view key;
  Result<void> (*read)(SimOptions& options, std::string_view text);
};

constexpr std::array<Setting, 14> kSettings{{
    {"service_time",
     [](SimOptions& o, std::string_view t) {
       return assign(o.server.service_time, parse_duration(t));
     }},
    {"distribution",
     [](SimOptions& o, std::string_view t) {
       return assign_distribution(o.server.distribution, t);
     }},
    {"servers",
     [](SimOptions& o, std::string_view t) { return assign_number(o.server.servers, t, 0); }},
    {"seed",
     [](SimOptions& o, std::string_view t) { return assign(o.server.seed, parse_count(t)); }},
    {"stall", [](SimOptions& o, std::string_view t) { return assign_periods(o.server.stalls, t); }},
    {"no_leader", [](SimOptions& o, std::string_view t) { return assign_periods(o.no_leader, t); }},
    {"circling", [](SimOptions& o, std::string_view t) { return assign_periods(o.circling, t); }},
    {"leader", [](SimOptions& o, std::string_view t) { return assign_number(o.leader, t, 0); }},
    {"nodes", [](SimOptions& o, std::string_view t) { return assign_number(o.nodes, t, 1); }},
    {"held", [](SimOptions& o, std::string_view t) { return assign_periods(o.held, t); }},
    {"refused", [](SimOptions& o, std::string_view t) { return assign_periods(o.refused, t); }},
    {"error_every",
     [](SimOptions& o, std::string_view t) { return assign(o.error_every, parse_count(t)); }},
    {"drop_every",
     [](SimOptions& o, std::string_view t) { return assign(o.drop_every, parse_count(t)); }},
    {"mismatch_every",
     [](SimOptions& o, std::string_view t) { return assign(o.mismatch_every, parse_count(t)); }},
}};

}  // namespace

Result<SimOptions> SimDriver::read_settings(const std::map<std::string, std::string>& settings) {
  SimOptions options;
  for (const auto& [key, text] : settings) {
    const auto* setting = std::find_if(kSettings.begin(), kSettings.end(),
                                       [&name = key](const Setting& s) { return s.key == name; });
    if (setting == kSettings.end()) {
      std::vector<std::string_view> known;
      for (const Setting& each : kSettings) {
        known.push_back(each.key);
      }
      return Error{fmt::format("sim: unknown setting '{}'{}", key, did_you_mean(key, known))};
    }
    if (const auto done = setting->read(options, text); !done) {
      return Error{fmt::format("sim: {}: {}", key, done.error())};
    }
  }
  return options;
}

}  // namespace raftperf::drivers
