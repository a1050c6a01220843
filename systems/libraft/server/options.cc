// SPDX-License-Identifier: Apache-2.0
#include "systems/libraft/server/options.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <random>
#include <string_view>

#include "base/units.h"
#include "net/socket.h"

namespace raftperf::libraft {
namespace {

constexpr std::uint16_t kClientPortBase = 9100;

/// The options as text and numbers, before their values are judged.
struct Raw {
  int node = -1;
  std::string nodes;
  std::string listen;
  std::string pre_vote = "on";
  std::string election_timeout = "1s";
  std::string heartbeat = "100ms";
  std::string connect_retry = "100ms";
  std::string drain_timeout = "2s";
  std::string segment_size = "8MiB";
  std::string output_max = "1MiB";
  std::uint64_t pending_max = 65536;
  std::uint64_t batch_max = 4096;
  std::uint64_t incarnation = 0;
};

void declare(CLI::App& app, Raw& raw, Options& options) {
  // A start command is put together from parts; what comes later wins.
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.add_option("--node", raw.node, "this node's index in --nodes, from 0")->required();
  app.add_option("--nodes", raw.nodes, "raft addresses of all nodes: host:port,host:port,...")
      ->required();
  app.add_option("--listen", raw.listen, "where clients connect (127.0.0.1:9100 + node)");
  app.add_option("--dir", options.directory, "data directory, made if missing")->required();
  app.add_flag("--bootstrap", options.bootstrap, "write the first configuration if DIR is empty");
  app.add_option("--election-timeout", raw.election_timeout, "1s; randomised to twice that");
  app.add_option("--heartbeat", raw.heartbeat, "100ms; also the grain of every raft timer");
  app.add_option("--pre-vote", raw.pre_vote, "on or off")->check(CLI::IsMember({"on", "off"}));
  app.add_option("--connect-retry", raw.connect_retry, "100ms between attempts to reach a peer");
  app.add_option("--snapshot-threshold", options.snapshot_threshold,
                 "applied entries between snapshots (50000)")
      ->check(CLI::Range(1U, 1'000'000'000U));
  app.add_option("--snapshot-trailing", options.snapshot_trailing,
                 "entries kept behind a snapshot (8192)")
      ->check(CLI::Range(0U, 1'000'000'000U));
  app.add_option("--segment-size", raw.segment_size, "bytes of a log file (8MiB)");
  app.add_option("--pending-max", raw.pending_max,
                 "requests without an answer above which a node says busy (65536)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 24U));
  app.add_option("--batch-max", raw.batch_max, "entries in one proposal (4096)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 20U));
  app.add_option("--output-max", raw.output_max,
                 "unsent reply bytes above which a client is not read (1MiB)");
  app.add_option("--drain-timeout", raw.drain_timeout, "2s for the open requests at SIGTERM");
  app.add_option("--run-token", options.run_token, "told to every client (0)");
  app.add_option("--incarnation", raw.incarnation, "names this process in the log (random)");
}

struct DurationRange {
  std::string_view option;
  std::chrono::milliseconds least;
  std::chrono::milliseconds most;
};

Result<std::chrono::milliseconds> duration(const std::string& text, const DurationRange& range) {
  const auto parsed = parse_duration(text);
  if (!parsed) {
    return Error{fmt::format("{}: {}", range.option, parsed.error())};
  }
  const auto rounded = std::chrono::duration_cast<std::chrono::milliseconds>(*parsed);
  if (rounded != *parsed || rounded < range.least || rounded > range.most) {
    return Error{fmt::format("{}: '{}' must be whole milliseconds from {} to {}, e.g. 100ms",
                             range.option, text, format_duration(range.least),
                             format_duration(range.most))};
  }
  return rounded;
}

struct SizeRange {
  std::string_view option;
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};

Result<std::size_t> size(const std::string& text, const SizeRange& range) {
  const auto parsed = parse_size(text);
  if (!parsed) {
    return Error{fmt::format("{}: {}", range.option, parsed.error())};
  }
  if (*parsed < range.least || *parsed > range.most) {
    return Error{fmt::format("{}: '{}' must be from {} to {} bytes, e.g. 8MiB", range.option, text,
                             range.least, range.most)};
  }
  return static_cast<std::size_t>(*parsed);
}

/// libraft speaks IPv4 literals only, so names are looked up here, once.
Result<net::Endpoint> to_ipv4(const net::Endpoint& endpoint) {
  const auto addresses = net::resolve(endpoint);
  if (!addresses) {
    return Error{fmt::format("--nodes: {}", addresses.error())};
  }
  for (const net::SocketAddress& address : *addresses) {
    if (address.storage.ss_family != AF_INET) {
      continue;
    }
    std::array<char, INET_ADDRSTRLEN> text{};
    const auto* ipv4 = reinterpret_cast<const sockaddr_in*>(&address.storage);
    if (::inet_ntop(AF_INET, &ipv4->sin_addr, text.data(), text.size()) != nullptr) {
      return net::Endpoint{.host = text.data(), .port = endpoint.port};
    }
  }
  return Error{fmt::format("--nodes: {} has no IPv4 address, and libraft speaks nothing else",
                           net::to_string(endpoint))};
}

Result<void> read_nodes(const Raw& raw, Options& options) {
  const auto parsed = net::parse_endpoints(raw.nodes);
  if (!parsed) {
    return Error{fmt::format("--nodes: {}", parsed.error())};
  }
  for (const net::Endpoint& endpoint : *parsed) {
    auto ipv4 = to_ipv4(endpoint);
    if (!ipv4) {
      return Error{ipv4.error()};
    }
    for (const net::Endpoint& other : options.nodes) {
      if (other == *ipv4) {
        return Error{fmt::format("--nodes: {} stands there twice", net::to_string(endpoint))};
      }
    }
    options.nodes.push_back(*ipv4);
  }
  if (raw.node < 0 || static_cast<std::size_t>(raw.node) >= options.nodes.size()) {
    return Error{fmt::format("--node: {} is not one of the {} nodes in --nodes, from 0 to {}",
                             raw.node, options.nodes.size(), options.nodes.size() - 1)};
  }
  options.node = static_cast<std::uint16_t>(raw.node);
  return {};
}

Result<void> read_listen(const Raw& raw, Options& options) {
  if (raw.listen.empty()) {
    options.listen = {.host = "127.0.0.1",
                      .port = static_cast<std::uint16_t>(kClientPortBase + options.node)};
    return {};
  }
  auto parsed = net::parse_endpoint(raw.listen);
  if (!parsed) {
    return Error{fmt::format("--listen: {}", parsed.error())};
  }
  options.listen = *parsed;
  return {};
}

Result<void> read_durations(const Raw& raw, Options& options) {
  using std::chrono::milliseconds;
  struct Entry {
    const std::string& text;
    DurationRange range;
    milliseconds& to;
  };
  const milliseconds hour{3'600'000};
  const std::array<Entry, 4> entries = {{
      {raw.election_timeout,
       {"--election-timeout", milliseconds{10}, hour},
       options.election_timeout},
      {raw.heartbeat, {"--heartbeat", milliseconds{1}, hour}, options.heartbeat},
      {raw.connect_retry, {"--connect-retry", milliseconds{1}, hour}, options.connect_retry},
      {raw.drain_timeout, {"--drain-timeout", milliseconds{0}, hour}, options.drain_timeout},
  }};
  for (const Entry& entry : entries) {
    auto parsed = duration(entry.text, entry.range);
    if (!parsed) {
      return Error{parsed.error()};
    }
    entry.to = *parsed;
  }
  if (options.heartbeat >= options.election_timeout) {
    return Error{fmt::format("--heartbeat: {} must be below --election-timeout {}, e.g. a tenth",
                             format_duration(options.heartbeat),
                             format_duration(options.election_timeout))};
  }
  return {};
}

Result<void> read_sizes(const Raw& raw, Options& options) {
  auto segment = size(raw.segment_size, {"--segment-size", 64U << 10U, 1ULL << 30U});
  if (!segment) {
    return Error{segment.error()};
  }
  auto output = size(raw.output_max, {"--output-max", 4U << 10U, 1ULL << 30U});
  if (!output) {
    return Error{output.error()};
  }
  options.segment_size = *segment;
  options.output_max = *output;
  options.pending_max = raw.pending_max;
  options.batch_max = raw.batch_max;
  return {};
}

std::uint64_t random_incarnation() {
  std::random_device device;
  const std::uint64_t high = device();
  return (high << 32U) | device();
}

Result<void> judge(const Raw& raw, Options& options) {
  for (const auto& step : {&read_nodes, &read_listen, &read_durations, &read_sizes}) {
    auto done = step(raw, options);
    if (!done) {
      return done;
    }
  }
  options.pre_vote = raw.pre_vote == "on";
  options.incarnation = raw.incarnation != 0 ? raw.incarnation : random_incarnation();
  return {};
}

}  // namespace

std::string Options::raft_address(std::size_t index) const {
  return net::to_string(nodes.at(index));
}

CommandLine parse_command_line(int argc, const char* const* argv) {
  CLI::App app("raftperf's server on canonical/raft, speaking the wire protocol",
               "raftperf-libraft-server");
  Raw raw;
  Options options;
  declare(app, raw, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return {.options = std::nullopt, .exit_code = 0};
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "raftperf-libraft-server: {}; see --help\n", error.what());
    return {.options = std::nullopt, .exit_code = 2};
  }
  auto judged = judge(raw, options);
  if (!judged) {
    fmt::print(stderr, "raftperf-libraft-server: {}\n", judged.error());
    return {.options = std::nullopt, .exit_code = 2};
  }
  return {.options = std::move(options), .exit_code = 0};
}

}  // namespace raftperf::libraft
