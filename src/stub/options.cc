// SPDX-License-Identifier: Apache-2.0
#include "stub/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <functional>
#include <limits>
#include <string_view>

#include "base/units.h"

namespace raftperf::stub {
namespace {

/// What was given, before options that depend on each other are looked at together.
struct Draft {
  Options options;
  std::optional<std::int32_t> leader;
  std::optional<std::int32_t> not_leader_hint;
};

using Apply = std::function<Result<void>(std::string_view text, Draft& draft)>;

struct Row {
  std::string name;
  std::string value;
  std::string help;
  Apply apply;
};

/// Parses by `parse` and hands the value to `store`.
template <typename Parse, typename Store>
Apply parsed(Parse parse, Store store) {
  return [parse, store](std::string_view text, Draft& draft) -> Result<void> {
    auto value = parse(text);
    if (!value) {
      return Error{value.error()};
    }
    store(draft, *std::move(value));
    return {};
  };
}

Result<std::uint64_t> parse_every(std::string_view text) {
  const auto count = parse_count(text);
  if (!count || *count == 0) {
    return Error{fmt::format("'{}': not a whole number from 1; example: 100", text)};
  }
  return *count;
}

Apply every(std::uint64_t FaultPlan::*member) {
  return parsed(parse_every,
                [member](Draft& draft, std::uint64_t n) { draft.options.faults.*member = n; });
}

Result<std::int32_t> parse_node_or_none(std::string_view text) {
  std::int32_t node = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), node);
  if (code != std::errc{} || end != text.data() + text.size() || node < wire::kNoNode) {
    return Error{fmt::format("'{}': not a node's index from 0, or -1 for none; example: 1", text)};
  }
  return node;
}

Result<std::int32_t> parse_node(std::string_view text) {
  auto node = parse_node_or_none(text);
  if (!node || *node < 0) {
    return Error{fmt::format("'{}': not a node's index from 0; example: 1", text)};
  }
  return node;
}

Result<Window> parse_window(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    return Error{fmt::format("'{}': not AT:FOR, two durations; example: 2s:500ms", text)};
  }
  const auto at = parse_duration(text.substr(0, colon));
  const auto length = parse_duration(text.substr(colon + 1));
  if (!at || !length) {
    return Error{at ? length.error() : at.error()};
  }
  constexpr std::chrono::hours kWindowMax{24};
  if (*at > kWindowMax || *length > kWindowMax) {
    return Error{fmt::format("'{}': a duration is above 24h; example: 2s:500ms", text)};
  }
  return Window{.at = *at, .length = *length};
}

Result<std::chrono::nanoseconds> parse_service_time(std::string_view text) {
  auto time = parse_duration(text);
  if (time.ok() && (time->count() == 0 || *time > std::chrono::seconds{100})) {
    return Error{fmt::format("'{}': not a duration from 1ns to 100s; example: 1ms", text)};
  }
  return time;
}

/// Not slower than --service-time allows: the sum of queued service times must fit.
Result<std::uint64_t> parse_capacity(std::string_view text) {
  constexpr std::uint64_t kMicroHertzMin = 10'000;
  auto rate = parse_rate(text);
  if (rate.ok() && *rate < kMicroHertzMin) {
    return Error{fmt::format("'{}': not a rate from 0.01 a second; example: 100/s", text)};
  }
  return rate;
}

Result<std::chrono::nanoseconds> parse_delay(std::string_view text) {
  auto delay = parse_duration(text);
  if (delay.ok() && *delay > std::chrono::hours{1}) {
    return Error{fmt::format("'{}': not a duration from 0 to 1h; example: 1ms", text)};
  }
  return delay;
}

Result<Service> parse_service(std::string_view text) {
  if (text == "exp") {
    return Service::kExponential;
  }
  if (text == "fixed") {
    return Service::kFixed;
  }
  return Error{fmt::format("'{}': not exp or fixed; example: exp", text)};
}

Result<std::string> parse_path(std::string_view text) {
  return text.empty() ? Result<std::string>(Error{"'': not a path; example: stub.log"})
                      : Result<std::string>(std::string(text));
}

std::vector<Row> fault_rows() {
  return {
      {"--freeze", "AT:FOR",
       "read and answer nothing for FOR, AT after the first operation; repeatable",
       parsed(parse_window, [](Draft& d, Window w) { d.options.freezes.push_back(w); })},
      {"--drop-every", "N", "every N-th operation: neither applied nor answered",
       every(&FaultPlan::drop_every)},
      {"--hold-every", "N", "every N-th operation: applied, answered only at SIGTERM",
       every(&FaultPlan::hold_every)},
      {"--apply-then-close-every", "N",
       "every N-th operation: applied, then its connection closed without an answer",
       every(&FaultPlan::apply_then_close_every)},
      {"--ack-without-apply-every", "N", "every N-th operation: answered ok, not applied",
       every(&FaultPlan::ack_without_apply_every)},
      {"--error-every", "N", "every N-th operation: status error", every(&FaultPlan::error_every)},
      {"--busy-every", "N", "every N-th operation: status busy", every(&FaultPlan::busy_every)},
      {"--mismatch-every", "N", "every N-th compare_and_set: status mismatch, state unchanged",
       every(&FaultPlan::mismatch_every)},
      {"--not-leader", "HINT",
       "redirect operations to node HINT, -1: unknown; always, or in the windows given",
       parsed(parse_node_or_none, [](Draft& d, std::int32_t n) { d.not_leader_hint = n; })},
      {"--not-leader-window", "AT:FOR",
       "redirect for FOR, AT after the first operation; repeatable",
       parsed(parse_window,
              [](Draft& d, Window w) { d.options.faults.not_leader_windows.push_back(w); })},
  };
}

std::vector<Row> rows() {
  std::vector<Row> all{
      {"--listen", "HOST:PORT", "where to listen (127.0.0.1:0; port 0: a free one)",
       parsed(net::parse_listen_endpoint,
              [](Draft& d, net::Endpoint e) { d.options.listen = std::move(e); })},
      {"--node", "N", "this node's index (0)",
       parsed(parse_node, [](Draft& d, std::int32_t n) { d.options.identity.node = n; })},
      {"--leader", "N", "the node that leads, -1: none (this one)",
       parsed(parse_node_or_none, [](Draft& d, std::int32_t n) { d.leader = n; })},
      {"--run-token", "N", "token of this run, told by hello and status (0)",
       parsed(parse_count, [](Draft& d, std::uint64_t n) { d.options.identity.run_token = n; })},
      {"--delay", "DURATION", "fixed latency of every answer (0)",
       parsed(parse_delay,
              [](Draft& d, std::chrono::nanoseconds t) { d.options.service.delay = t; })},
      {"--capacity", "RATE", "one server in order of arrival, RATE a second, e.g. 100/s",
       parsed(parse_capacity,
              [](Draft& d, std::uint64_t r) { d.options.service.capacity_micro_hertz = r; })},
      {"--service", "exp|fixed", "one server in order of arrival, its service time's distribution",
       parsed(parse_service, [](Draft& d, Service s) { d.options.service.service = s; })},
      {"--service-time", "DURATION", "the mean service time of --service",
       parsed(parse_service_time,
              [](Draft& d, std::chrono::nanoseconds t) { d.options.service.service_time = t; })},
      {"--seed", "N", "seed of --service exp (1)",
       parsed(parse_count, [](Draft& d, std::uint64_t n) { d.options.service.seed = n; })},
  };
  for (Row& row : fault_rows()) {
    all.push_back(std::move(row));
  }
  all.push_back({"--arrival-log", "FILE", "binary log of every operation's arrival",
                 parsed(parse_path, [](Draft& d, std::string p) { d.options.arrival_log = p; })});
  all.push_back({"--counters-file", "FILE", "JSON of all counters, at exit and at SIGUSR1",
                 parsed(parse_path, [](Draft& d, std::string p) { d.options.counters_file = p; })});
  all.push_back({"--parent", "PID", "end as soon as this process, which started the stub, ends",
                 parsed(parse_count, [](Draft& d, std::uint64_t n) { d.options.parent = n; })});
  return all;
}

/// What only several options together can get wrong, and the defaults that follow others.
Result<Options> finish(Draft draft) {
  Options& options = draft.options;
  ServicePlan& service = options.service;
  const bool has_service = service.service != Service::kNone;
  if (service.capacity_micro_hertz != 0 && has_service) {
    return Error{"--capacity and --service exclude each other: both are one server"};
  }
  if (has_service != (service.service_time.count() != 0)) {
    return Error{
        "--service and --service-time belong together; example: --service exp --service-time 1ms"};
  }
  if (service.capacity_micro_hertz != 0) {
    service.service = Service::kCapacity;
  }
  options.identity.leader = draft.leader.value_or(options.identity.node);
  options.faults.not_leader_hint = draft.not_leader_hint.value_or(wire::kNoNode);
  options.faults.never_leader =
      draft.not_leader_hint.has_value() && options.faults.not_leader_windows.empty();
  return std::move(options);
}

std::string one_line(std::string text) {
  for (char& c : text) {
    c = c == '\n' ? ' ' : c;
  }
  return text;
}

}  // namespace

Result<std::optional<Options>> parse_options(int argc, const char* const* argv) {
  CLI::App app{"A loopback server of the raftperf wire protocol that misbehaves as told."};
  app.name("raftperf-stub");
  const std::vector<Row> table = rows();
  std::vector<CLI::Option*> given;
  for (const Row& row : table) {
    // Read as text only; what it means is the table's business.
    auto* option = app.add_option(
        row.name, [](const CLI::results_t&) { return true; }, row.help);
    option->type_name(row.value)->type_size(1)->expected(1)->multi_option_policy(
        CLI::MultiOptionPolicy::TakeAll);
    given.push_back(option);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return std::optional<Options>{};
  } catch (const CLI::ParseError& error) {
    return Error{one_line(error.what())};
  }
  Draft draft;
  for (std::size_t i = 0; i < table.size(); ++i) {
    for (const std::string& text : given[i]->results()) {
      if (auto applied = table[i].apply(text, draft); !applied) {
        return Error{fmt::format("{} {}", table[i].name, applied.error())};
      }
    }
  }
  auto options = finish(std::move(draft));
  if (!options) {
    return Error{options.error()};
  }
  return std::optional(*std::move(options));
}

}  // namespace raftperf::stub
