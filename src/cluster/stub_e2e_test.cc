// SPDX-License-Identifier: Apache-2.0
//
// Three fault stubs as the "nodes" of a cluster, described by a file like any system.
#include <gtest/gtest.h>

#include "cluster/cluster_probe.h"
#include "cluster/fixture_for_test.h"
#include "cluster/local_cluster.h"
#include "cluster/system_catalogue.h"

namespace raftperf::cluster {
namespace {

using std::chrono::milliseconds;

constexpr const char* kStubToml = R"(name = "stub"
title = "The fault stub"
upstream = "none"
version = "1"
licence = "Apache-2.0"
protocol = "wire"
executable = "{build}/raftperf-stub"
[ports]
client = 8300
[start]
command = ["{executable}", "--node", "{node}", "--listen", "{address.client}",
           "--run-token", "{run_token}", "--leader", "1"]
[durability]
default = "memory"
[durability.memory]
data_dir = "tmpfs"
[profiles.uniform]
operation = "append"
)";

class StubClusterTest : public ClusterTest {};

TEST_F(StubClusterTest, IsACluster) {
  const auto file = directory_ / "systems/stub/system.toml";
  std::filesystem::create_directories(file.parent_path());
  write_file(file, kStubToml);
  const auto stub = load_system(file);
  ASSERT_TRUE(stub.ok()) << stub.error();
  ClusterOptions options = this->options();
  options.build = test_programs().parent_path();
  if (!find_executable(*stub, options.build).built) {
    GTEST_SKIP() << "skipped: raftperf-stub is not built";
  }
  auto up = LocalCluster::up(*stub, options, log_);
  ASSERT_TRUE(up.ok()) << up.error();
  auto probe = ClusterProbe::create("wire", up.value()->clients());
  const auto views = probe->look(milliseconds(5000));
  EXPECT_EQ(decide_leader(views).leader, 1);
  EXPECT_EQ(views[1].last->operation_count, 1U) << "the write that proved readiness";
  EXPECT_TRUE(up.value()->down().problems.empty());
}

}  // namespace
}  // namespace raftperf::cluster
