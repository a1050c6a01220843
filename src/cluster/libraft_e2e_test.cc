// SPDX-License-Identifier: Apache-2.0
//
// The local default for real: three libraft nodes brought up, disturbed, and stopped.
#include <gtest/gtest.h>

#include "cluster/cluster_probe.h"
#include "cluster/fixture_for_test.h"
#include "cluster/local_cluster.h"
#include "cluster/monitor.h"
#include "cluster/system_catalogue.h"

namespace raftperf::cluster {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds kPatience{30'000};

class LibraftTest : public ClusterTest {
 protected:
  void SetUp() override {
    auto found = find_system(fs::current_path(), "libraft");
    ASSERT_TRUE(found.ok()) << found.error();
    libraft_ = *std::move(found);
    build_ = test_programs().parent_path();
    const Availability availability = find_executable(libraft_, build_);
    if (!availability.built) {
      GTEST_SKIP() << "skipped: libraft: " << availability.remedy;
    }
  }

  ClusterOptions libraft_options(const std::string& durability) const {
    ClusterOptions options = this->options();
    options.port_base = free_ports(103);  // Its two port names are 100 apart.
    options.build = build_;
    options.durability = durability;
    return options;
  }

  void bring_up(const std::string& durability) {
    auto up = LocalCluster::up(libraft_, libraft_options(durability), log_);
    ASSERT_TRUE(up.ok()) << up.error();
    cluster_ = *std::move(up);
    auto monitor = Monitor::start(libraft_.protocol, cluster_->clients(), log_, {});
    ASSERT_TRUE(monitor.ok()) << monitor.error();
    monitor_ = *std::move(monitor);
    ASSERT_TRUE(monitor_->wait_for_leader(kPatience));
    auto probe = ClusterProbe::create(libraft_.protocol, cluster_->clients());
    probe_.emplace(*std::move(probe));
  }

  /// Waits for another leader than `old`; -1 if there is none in time.
  int leader_after(int old) const {
    int leader = -1;
    const bool found = eventually([&] {
      leader = monitor_->current_leader().leader;
      return leader >= 0 && leader != old;
    });
    return found ? leader : -1;
  }

  bool replicas_agree() {
    return eventually([&] {
      const auto views = probe_->look(milliseconds(2000));
      for (const NodeView& view : views) {
        if (!view.last || view.last->checksum != views[0].last->checksum ||
            view.last->operation_count != views[0].last->operation_count) {
          return false;
        }
      }
      return true;
    });
  }

  SystemDescriptor libraft_;
  fs::path build_;
  std::unique_ptr<LocalCluster> cluster_;
  std::unique_ptr<Monitor> monitor_;
  std::optional<ClusterProbe> probe_;
};

TEST_F(LibraftTest, SurvivesTransferFreezeAndKillOfItsLeader) {
  bring_up("memory");
  if (!probe_) {
    return;
  }
  ASSERT_TRUE(probe_->write(milliseconds(5000)).ok());
  const int first = monitor_->current_leader().leader;
  const int second = (first + 1) % 3;
  auto moved = probe_->transfer_leader(second, kPatience);
  ASSERT_TRUE(moved.ok()) << moved.error();
  EXPECT_EQ(leader_after(first), second);

  const EventLog::PlannedScope planned(log_);
  ASSERT_TRUE(cluster_->stop_node(second).ok());
  const int third = leader_after(second);
  ASSERT_GE(third, 0);
  ASSERT_TRUE(cluster_->continue_node(second).ok());

  ASSERT_TRUE(cluster_->kill_node(third).ok());
  ASSERT_GE(leader_after(third), 0);
  auto started = cluster_->start_node(third);
  ASSERT_TRUE(started.ok()) << started.error();
  ASSERT_TRUE(eventually([&] { return probe_->write(milliseconds(2000)).ok(); }));
  EXPECT_TRUE(replicas_agree());
  EXPECT_GT(cluster_->cpu_time(0)->count(), 0);
  EXPECT_GE(monitor_->leader_changes(), 3U);

  monitor_.reset();
  const DownReport report = cluster_->down();
  EXPECT_TRUE(report.problems.empty());
  for (const DownReport::Node& node : report.nodes) {
    EXPECT_EQ(node.outcome, "stopped") << "SIGTERM drains";
  }
  for (const Event& event : log_.events()) {
    EXPECT_FALSE(event.code == EventCode::kNodeExited && event.origin == EventOrigin::kUnplanned)
        << event.detail;
  }
}

TEST_F(LibraftTest, RunsOnDiskToo) {
  bring_up("fsync");
  if (!probe_) {
    return;
  }
  EXPECT_TRUE(probe_->write(milliseconds(5000)).ok());
  EXPECT_TRUE(replicas_agree());
  const fs::path data = cluster_->state().data_root;
  monitor_.reset();
  EXPECT_TRUE(cluster_->down().problems.empty());
  EXPECT_FALSE(fs::exists(data));
}

TEST_F(LibraftTest, AKeptClusterIsFoundAndEnded) {
  ClusterOptions options = libraft_options("memory");
  options.lifetime = ClusterOptions::Lifetime::kUntilDown;
  auto up = LocalCluster::up(libraft_, options, log_);
  ASSERT_TRUE(up.ok()) << up.error();
  up.value().reset();
  auto found = LocalCluster::attach("libraft", state(), log_);
  ASSERT_TRUE(found.ok()) << found.error();
  auto probe = ClusterProbe::create("wire", found.value()->clients());
  EXPECT_TRUE(probe->write(milliseconds(5000)).ok());
  EXPECT_TRUE(found.value()->down().problems.empty());
}

}  // namespace
}  // namespace raftperf::cluster
