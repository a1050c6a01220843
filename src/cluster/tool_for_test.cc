// SPDX-License-Identifier: Apache-2.0
//
// Stands for the tool in tests of what happens when it is killed: brings a cluster up,
// says so in one line, and waits. As `guard` it is its own guard program.
//
//   raftperf-cluster-tool guard
//   raftperf-cluster-tool FILE STATE PORT run|keep fork|exec KNOB
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>

#include "cluster/guard.h"
#include "cluster/local_cluster.h"

namespace {

using namespace raftperf::cluster;  // NOLINT: a program of forty lines

volatile std::sig_atomic_t interrupted = 0;

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "guard") {
    return guard_main(0);
  }
  if (argc != 7) {
    return 2;
  }
  ::signal(SIGINT, [](int) { interrupted = 1; });
  const auto system = load_system(argv[1]);
  ClusterOptions options;
  options.build = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  options.state = StateDirectory{.path = argv[2]};
  options.port_base = static_cast<std::uint16_t>(std::stoi(argv[3]));
  options.knobs["bad"] = argv[6];
  options.interrupted = [] { return interrupted != 0; };
  if (std::string(argv[4]) == "keep") {
    options.lifetime = ClusterOptions::Lifetime::kUntilDown;
  }
  if (std::string(argv[5]) == "exec") {
    options.guard_arguments = {"/proc/self/exe", "guard"};
  }
  EventLog log;
  auto cluster = LocalCluster::up(*system, options, log);
  if (!cluster) {
    fmt::print("error {}\n", cluster.error());
    std::fflush(stdout);
    return 3;
  }
  fmt::print("up {}", cluster.value()->state().data_root.string());
  for (int node = 0; node < cluster.value()->nodes(); ++node) {
    fmt::print(" {}", cluster.value()->pid(node));
  }
  fmt::print("\n");
  std::fflush(stdout);
  if (options.lifetime == ClusterOptions::Lifetime::kThisProcess) {
    while (interrupted == 0) {
      ::usleep(10'000);
    }
  }
  return 0;
}
