// SPDX-License-Identifier: Apache-2.0
#include "cluster/fixture_for_test.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "base/check.h"
#include "cluster/port_owner.h"
#include "cluster/process_identity.h"

namespace raftperf::cluster {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSystemToml = R"(name = "fake"
title = "A server for tests"
upstream = "none"
version = "1"
licence = "Apache-2.0"
protocol = "wire"
build = "make test"
how_to_get = "nothing"
executable = "{build}/raftperf-fake-server"

[ports]
client = 8300

[start]
command = ["{executable}", "--node", "{node}", "--listen", "{address.client}",
           "--run-token", "{run_token}", "--leader-file", "{data_dir}/../leader"]

[durability]
default = "memory"
[durability.memory]
data_dir = "tmpfs"
[durability.fsync]
data_dir = "disk"

[knobs.bad]
flag = "--bad"
default = "no"
[knobs.pid_file]
flag = "--pid-file"
default = "-"

[profiles.uniform]
operation = "append"
request_bytes = 64
)";

}  // namespace

ClusterTest::ClusterTest() {
  std::string name = "/var/tmp/raftperf-test-XXXXXX";
  CHECK(::mkdtemp(name.data()) != nullptr);
  directory_ = name;
  const fs::path file = directory_ / "systems/fake/system.toml";
  fs::create_directories(file.parent_path());
  write_file(file, kSystemToml);
  auto loaded = load_system(file);
  if (!loaded) {
    ADD_FAILURE() << loaded.error();
  }
  system_ = *std::move(loaded);
}

ClusterTest::~ClusterTest() { fs::remove_all(directory_); }

ClusterOptions ClusterTest::options() const {
  ClusterOptions options;
  options.build = test_programs();
  options.state = state();
  options.port_base = free_ports(options.nodes);
  options.ready_timeout = std::chrono::seconds(60);
  return options;
}

fs::path test_programs() { return fs::read_symlink("/proc/self/exe").parent_path(); }

std::uint16_t free_ports(int count) {
  // Below the range from which the kernel takes ports for outgoing connections.
  constexpr int kFirst = 15000;
  constexpr int kLast = 32000;
  static std::mt19937 random{std::random_device{}()};
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const int base = std::uniform_int_distribution<int>(kFirst, kLast)(random);
    bool all_free = true;
    for (int i = 0; i < count && all_free; ++i) {
      all_free = port_is_free("127.0.0.1", static_cast<std::uint16_t>(base + i));
    }
    if (all_free) {
      return static_cast<std::uint16_t>(base);
    }
  }
  CHECK(false);
  return 0;
}

bool is_alive(pid_t pid) {
  const auto stat = read_process_stat(pid);
  return stat && stat->alive();
}

bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

int count_events(const EventLog& log, EventCode code) {
  const auto events = log.events();
  return static_cast<int>(std::count_if(events.begin(), events.end(),
                                        [&](const Event& event) { return event.code == code; }));
}

std::string read_file(const fs::path& file) {
  std::ifstream input(file);
  std::ostringstream content;
  content << input.rdbuf();
  return content.str();
}

void write_file(const fs::path& file, const std::string& content) {
  std::ofstream(file) << content;
}

}  // namespace raftperf::cluster
