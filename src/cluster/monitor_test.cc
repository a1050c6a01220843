// SPDX-License-Identifier: Apache-2.0
#include "cluster/monitor.h"

#include <gtest/gtest.h>

#include "cluster/cluster_probe.h"
#include "cluster/fixture_for_test.h"

namespace raftperf::cluster {
namespace {

using Contact = NodeView::Contact;
using Role = NodeStatus::Role;
using std::chrono::milliseconds;

NodeView says(Role role, int leader, std::uint64_t term, Contact contact = Contact::kAnswers) {
  NodeStatus status;
  status.role = role;
  status.leader = leader;
  status.term = term;
  return NodeView{.contact = contact, .last = status};
}

LeaderView decide(const std::vector<NodeView>& nodes) { return decide_leader(nodes); }

TEST(DecideLeader, TheHighestTermIsRight) {
  EXPECT_EQ(
      decide({says(Role::kLeader, 0, 3), says(Role::kLeader, 1, 4), says(Role::kFollower, 1, 4)}),
      (LeaderView{.leader = 1, .term = 4}));
}

TEST(DecideLeader, NobodyKnownIsNobody) {
  EXPECT_EQ(decide({NodeView{}, NodeView{}, NodeView{}}), LeaderView{});
  EXPECT_EQ(decide({}), LeaderView{});
  EXPECT_EQ(decide({says(Role::kCandidate, -1, 7), says(Role::kFollower, -1, 6), NodeView{}}),
            (LeaderView{.leader = -1, .term = 7}));
}

TEST(DecideLeader, ASilentLeaderStaysUntilMostAreInALaterTerm) {
  const NodeView silent = says(Role::kLeader, 0, 3, Contact::kSilent);
  EXPECT_EQ(decide({silent, says(Role::kFollower, 0, 3), says(Role::kFollower, 0, 3)}).leader, 0);
  EXPECT_EQ(decide({silent, says(Role::kCandidate, -1, 4), says(Role::kFollower, 0, 3)}).leader, 0);
  EXPECT_EQ(decide({silent, says(Role::kCandidate, -1, 4), says(Role::kFollower, -1, 4)}),
            (LeaderView{.leader = -1, .term = 4}));
  EXPECT_EQ(decide({silent, says(Role::kLeader, 1, 4), says(Role::kFollower, 1, 4)}).leader, 1);
}

TEST(DecideLeader, ALeaderThatIsGoneIsNone) {
  const NodeView gone = says(Role::kLeader, 0, 3, Contact::kGone);
  EXPECT_EQ(decide({gone, says(Role::kFollower, 0, 3), says(Role::kFollower, 0, 3)}).leader, -1);
}

TEST(DecideLeader, ASilentNodeThatOthersNameCounts) {
  const NodeView unseen{.contact = Contact::kSilent, .last = {}};
  EXPECT_EQ(decide({says(Role::kFollower, 1, 3), unseen, says(Role::kFollower, 1, 3)}),
            (LeaderView{.leader = 1, .term = 3}));
  EXPECT_EQ(decide({says(Role::kFollower, 9, 3), unseen, unseen}).leader, -1);
}

class MonitorTest : public ClusterTest {
 protected:
  void SetUp() override {
    auto up = LocalCluster::up(system(), options(), log_);
    ASSERT_TRUE(up.ok()) << up.error();
    cluster_ = *std::move(up);
    auto monitor = Monitor::start("wire", cluster_->clients(), log_,
                                  {.interval = milliseconds(20), .timeout = milliseconds(200)});
    ASSERT_TRUE(monitor.ok()) << monitor.error();
    monitor_ = *std::move(monitor);
    ASSERT_EQ(monitor_->wait_for_leader(milliseconds(10'000)),
              (LeaderView{.leader = 0, .term = 1}));
  }

  /// Waits for every node to have answered once.
  bool all_answer() {
    return eventually([&] {
      for (const NodeView& node : monitor_->nodes()) {
        if (node.contact != Contact::kAnswers) {
          return false;
        }
      }
      return true;
    });
  }

  std::unique_ptr<LocalCluster> cluster_;
  std::unique_ptr<Monitor> monitor_;
};

TEST_F(MonitorTest, FollowsATransferOfTheLeader) {
  auto probe = ClusterProbe::create("wire", cluster_->clients());
  ASSERT_TRUE(probe.ok());
  auto moved = probe->transfer_leader(2, milliseconds(10'000));
  ASSERT_TRUE(moved.ok()) << moved.error();
  EXPECT_TRUE(probe->transfer_leader(2, milliseconds(10'000)).ok()) << "it leads already";
  EXPECT_FALSE(probe->transfer_leader(3, milliseconds(10'000)).ok());
  EXPECT_TRUE(eventually(
      [&] { return monitor_->current_leader() == (LeaderView{.leader = 2, .term = 2}); }));
  EXPECT_EQ(monitor_->leader_changes(), 1U);
  EXPECT_EQ(count_events(log_, EventCode::kLeaderChanged), 1);
  EXPECT_EQ(count_events(log_, EventCode::kTermChanged), 1);
  EXPECT_TRUE(probe->write(milliseconds(1000)).ok());
}

TEST_F(MonitorTest, AFrozenNodeIsSilentAndAnswersAgain) {
  ASSERT_TRUE(all_answer());
  const EventLog::PlannedScope planned(log_);
  ASSERT_TRUE(cluster_->stop_node(0).ok());
  ASSERT_TRUE(eventually([&] { return monitor_->nodes()[0].contact == Contact::kSilent; }));
  EXPECT_EQ(monitor_->current_leader().leader, 0) << "for its clients it still leads";
  EXPECT_EQ(log_.events().back().code, EventCode::kNotReachable);
  EXPECT_EQ(log_.events().back().origin, EventOrigin::kPlanned);
  ASSERT_TRUE(cluster_->continue_node(0).ok());
  ASSERT_TRUE(eventually([&] { return monitor_->nodes()[0].contact == Contact::kAnswers; }));
  EXPECT_EQ(count_events(log_, EventCode::kReachable), 1);
}

TEST_F(MonitorTest, AKilledLeaderIsNoLeader) {
  ASSERT_TRUE(all_answer());
  ASSERT_TRUE(cluster_->kill_node(0).ok());
  EXPECT_TRUE(eventually([&] { return monitor_->current_leader().leader == -1; }));
  EXPECT_EQ(monitor_->nodes()[0].contact, Contact::kGone);
  EXPECT_EQ(count_events(log_, EventCode::kLeaderLost), 1);
  EXPECT_EQ(monitor_->leader_changes(), 0U);
}

TEST(Monitor, AnUnknownProtocolIsAnError) {
  EventLog log;
  auto monitor = Monitor::start("wired", {{.host = "127.0.0.1", .port = 1}}, log, {});
  ASSERT_FALSE(monitor.ok());
  EXPECT_NE(monitor.error().find("did you mean 'wire'?"), std::string::npos);
}

}  // namespace
}  // namespace raftperf::cluster
