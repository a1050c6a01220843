// SPDX-License-Identifier: Apache-2.0
//
// raftperf-stub: a server of the wire protocol without a cluster behind it, for tests
// and for the rig's own floor. Prints one JSON line once it listens.

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "stub/server.h"

namespace {

constexpr int kExitFailure = 1;
constexpr int kExitUsage = 2;

int fail(const std::string& message, int exit_status) {
  fmt::print(stderr, "raftperf-stub: {}\n", message);
  return exit_status;
}

bool print_ready(const raftperf::stub::Options& options, std::uint16_t port) {
  const nlohmann::ordered_json ready{
      {"event", "ready"},
      {"system", "stub"},
      {"node", options.identity.node},
      {"client", raftperf::net::to_string({.host = options.listen.host, .port = port})},
      {"pid", ::getpid()},
      {"run_token", options.identity.run_token},
  };
  const std::string line = ready.dump() + "\n";
  return std::fwrite(line.data(), 1, line.size(), stdout) == line.size() &&
         std::fflush(stdout) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  auto options = raftperf::stub::parse_options(argc, argv);
  if (!options) {
    return fail(options.error() + " (--help lists all options)", kExitUsage);
  }
  if (!options->has_value()) {
    return 0;
  }
  if ((*options)->parent != 0) {
    // Asked for first and then looked: a parent that has just died is noticed either way.
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (static_cast<std::uint64_t>(::getppid()) != (*options)->parent) {
      return fail("the process of --parent is not the one that started it", kExitFailure);
    }
  }
  auto server = raftperf::stub::Server::create(**options);
  if (!server) {
    return fail(server.error(), kExitFailure);
  }
  if (!print_ready(**options, server.value()->port())) {
    return fail("the ready line could not be written to standard output", kExitFailure);
  }
  if (auto served = server.value()->run(); !served) {
    return fail(served.error(), kExitFailure);
  }
  return 0;
}
