// SPDX-License-Identifier: Apache-2.0
//
// The table of options: parser, help, TOML keys, variables and record fields all come
// from it, and no default is stated a second time.
#include <fmt/format.h>

#include <array>

#include "base/nearest.h"
#include "base/units.h"
#include "cli/options.h"
#include "net/endpoint.h"

namespace raftperf::cli {
namespace {

template <std::size_t N>
Result<void> one_of(const std::string& text, const std::array<std::string_view, N>& words) {
  if (std::find(words.begin(), words.end(), text) != words.end()) {
    return {};
  }
  return Error{fmt::format("one of {}{}; example: {}", fmt::join(words, ", "),
                           did_you_mean(text, words), words.front())};
}

template <typename Parsed>
Result<void> only_error(const Parsed& parsed) {
  return parsed ? Result<void>() : Result<void>(Error{parsed.error()});
}

Result<void> whole_number(const std::string& text, std::uint64_t min, std::uint64_t max,
                          std::string_view example) {
  const auto count = parse_count(text);
  if (!count || *count < min || *count > max) {
    return Error{fmt::format("a whole number from {} to {}; example: {}", min, max, example)};
  }
  return {};
}

Result<void> duration_between(const std::string& text, std::chrono::nanoseconds min,
                              std::chrono::nanoseconds max) {
  const auto duration = parse_duration(text);
  if (!duration) {
    return Error{duration.error()};
  }
  if (*duration < min || *duration > max) {
    return Error{
        fmt::format("from {} to {}; example: 30s", format_duration(min), format_duration(max))};
  }
  return {};
}

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds kDurationMax = 24h;

Result<void> any_text(const std::string&) { return {}; }

Result<void> not_empty(const std::string& text) {
  return text.empty() ? Result<void>(Error{"must not be empty; example: results/mine"})
                      : Result<void>();
}

Result<void> leader(const std::string& text) {
  if (text == "any") {
    return {};
  }
  if (text.starts_with("node") && parse_count(text.substr(4)).ok()) {
    return {};
  }
  return Error{"any, or node and its number; example: node0"};
}

constexpr std::array kRunOptions{
    OptionSpec{"mode", "MODE", "closed", "open (the clock sends) or closed (a reply sends)",
               [](const std::string& t) {
                 return one_of(t, std::array<std::string_view, 2>{"open", "closed"});
               }},
    OptionSpec{"threads", "N", "100", "closed loop: chains, one operation outstanding each",
               [](const std::string& t) { return whole_number(t, 1, 1'000'000, "100"); }},
    OptionSpec{"rate", "R", "", "open loop: operations per second, an exact decimal",
               [](const std::string& t) { return only_error(parse_rate(t)); }},
    OptionSpec{"burst", "B", "1", "open loop: operations that share a scheduled instant",
               [](const std::string& t) { return whole_number(t, 1, 1'000'000, "10"); }},
    OptionSpec{"max-inflight", "N", "",
               "open loop: cap on unanswered operations [max(1000, rate/10) or the transport's]",
               [](const std::string& t) { return whole_number(t, 1, 4'000'000, "2000"); }},
    OptionSpec{"warmup", "TIME", "10s", "scheduled and answered, but not measured",
               [](const std::string& t) { return duration_between(t, 0s, kDurationMax); }},
    OptionSpec{"measure", "TIME", "30s", "the measured window",
               [](const std::string& t) { return duration_between(t, 1ms, kDurationMax); }},
    OptionSpec{"drain-timeout", "TIME", "5s", "wait for the last answers; never below --timeout",
               [](const std::string& t) { return duration_between(t, 0s, kDurationMax); }},
    OptionSpec{"timeout", "TIME", "5s", "from an operation's first actual send to unknown",
               [](const std::string& t) { return duration_between(t, 1ms, kDurationMax); }},
    OptionSpec{"pace", "PACE", "auto", "how a worker waits: auto, spin, park or block",
               [](const std::string& t) {
                 return one_of(t, std::array<std::string_view, 4>{"auto", "spin", "park", "block"});
               }},
    OptionSpec{"arrival", "PATTERN", "uniform", "open loop: uniform or poisson",
               [](const std::string& t) {
                 return one_of(t, std::array<std::string_view, 2>{"uniform", "poisson"});
               }},
    OptionSpec{
        "seed", "N", "1", "of poisson arrivals and of values",
        [](const std::string& t) { return whole_number(t, 0, 1'000'000'000'000'000'000U, "1"); }},
    OptionSpec{"workers", "N", "1", "generator threads; they stripe one schedule",
               [](const std::string& t) { return whole_number(t, 1, 256, "1"); }},
    OptionSpec{"connections", "N", "4", "per worker and node, where the protocol shares them",
               [](const std::string& t) { return whole_number(t, 1, 10'000, "4"); }},
    OptionSpec{"send-stamp", "WHAT", "operation",
               "first attempts are stamped per operation or per batch",
               [](const std::string& t) {
                 return one_of(t, std::array<std::string_view, 2>{"operation", "batch"});
               }},
    OptionSpec{"no-leader", "POLICY", "hold", "without a leader: hold due operations, or drop",
               [](const std::string& t) {
                 return one_of(t, std::array<std::string_view, 2>{"hold", "drop"});
               }},
    OptionSpec{"profile", "PROFILE", "native",
               "native (the system's own operation) or uniform (opaque bytes)",
               [](const std::string& t) {
                 return one_of(t, std::array<std::string_view, 2>{"native", "uniform"});
               }},
    OptionSpec{"value-size", "BYTES", "64", "of an append, set or echo",
               [](const std::string& t) {
                 const auto size = parse_size(t);
                 return !size || *size < 1 || *size > (1U << 20U)
                            ? Result<void>(Error{"1 to 1Mi bytes; example: 64"})
                            : Result<void>();
               }},
    OptionSpec{"durability", "CLASS", "", "memory, page-cache or fsync [the system's default]",
               [](const std::string& t) {
                 return one_of(t, std::array<std::string_view, 3>{"memory", "page-cache", "fsync"});
               }},
    OptionSpec{"leader", "NODE", "node0", "where the leader should be: node0, node1, ... or any",
               leader},
    OptionSpec{"nodes", "LIST", "", "a running cluster: host:port,host:port,... in node order",
               [](const std::string& t) { return only_error(net::parse_endpoints(t)); }},
    OptionSpec{"cluster-size", "N", "3", "nodes of a local cluster",
               [](const std::string& t) { return whole_number(t, 1, 9, "3"); }},
    OptionSpec{"port-base", "PORT", "", "first port of a local cluster [the system's]",
               [](const std::string& t) { return whole_number(t, 1, 65'000, "9100"); }},
    OptionSpec{"set", "K=V,...", "", "settings of the driver, or knobs of a local cluster",
               any_text},
    OptionSpec{"verify", "on|off", "on", "compare acknowledged with applied after the run",
               [](const std::string& t) {
                 return one_of(t, std::array<std::string_view, 2>{"on", "off"});
               }},
    OptionSpec{"out", "DIR", "", "results folder [results/<utc>-<system>-<mode>-<load>]",
               not_empty},
    OptionSpec{"hdr-out", "FILE", "", "also writes the percentile distribution there", not_empty},
};

}  // namespace

std::span<const OptionSpec> run_options() { return kRunOptions; }

}  // namespace raftperf::cli
