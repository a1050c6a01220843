// SPDX-License-Identifier: Apache-2.0
#include "load/leader_tracker.h"

#include <gtest/gtest.h>

namespace raftperf::load {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kStart{1h};

TEST(LeaderTracker, FollowsAHint) {
  LeaderTracker tracker(3, 0);
  tracker.rejected(0, 2, kStart);
  EXPECT_EQ(tracker.leader(), 2);
  tracker.rejected(0, 1, kStart);  // an answer from before
  EXPECT_EQ(tracker.leader(), 2);
}

TEST(LeaderTracker, DistrustsAUselessHint) {
  for (const int hint : {kNoNode, 0, 3, 99}) {  // none, the node itself, unknown nodes
    LeaderTracker tracker(3, 0);
    tracker.rejected(0, hint, kStart);
    EXPECT_EQ(tracker.leader(), kNoNode) << hint;
  }
  LeaderTracker tracker(3, 0);
  tracker.link_down(2, kStart);
  tracker.rejected(0, 2, kStart);  // a node that cannot be reached (C103)
  EXPECT_EQ(tracker.leader(), kNoNode);
}

TEST(LeaderTracker, ProbesInTurnWithBackoff) {
  LeaderTracker tracker(3, kNoNode);
  TimePoint now = kStart;
  Duration backoff = 1ms;
  for (int probe = 0; probe < 12; ++probe) {
    EXPECT_EQ(tracker.take_probe(now), probe % 3);
    EXPECT_EQ(tracker.take_probe(now), kNoNode) << "one at a time";
    EXPECT_EQ(tracker.next_event(true), now + 50ms);
    tracker.rejected(static_cast<std::uint32_t>(probe % 3), kNoNode, now);
    EXPECT_EQ(tracker.next_event(true), now + backoff);
    EXPECT_EQ(tracker.next_event(false), kNever) << "nothing waits for a leader";
    now += backoff;
    backoff = std::min<Duration>(2 * backoff, 50ms);
  }
  tracker.answered(1, now);
  EXPECT_EQ(tracker.leader(), 1);
  tracker.rejected(1, kNoNode, now);
  EXPECT_EQ(tracker.next_event(true), now + 1ms) << "an answer ends the backoff";
}

TEST(LeaderTracker, AManifoldRejectionIsOnePieceOfNews) {
  LeaderTracker tracker(3, 0);
  for (int i = 0; i < 256; ++i) {  // all that was under way when the leader stepped down
    tracker.rejected(0, kNoNode, kStart);
  }
  EXPECT_EQ(tracker.next_event(true), kStart + 1ms);
}

TEST(LeaderTracker, AHeldProbeDoesNotStopTheSearch) {
  LeaderTracker tracker(2, kNoNode);
  EXPECT_EQ(tracker.take_probe(kStart), 0);
  EXPECT_EQ(tracker.take_probe(kStart + 49ms), kNoNode);
  EXPECT_EQ(tracker.take_probe(kStart + 50ms), 1);
  tracker.rejected(0, 1, kStart + 60ms);  // a slow answer is still one
  EXPECT_EQ(tracker.leader(), 1);
}

TEST(LeaderTracker, CirclingHintsAreBounded) {
  LeaderTracker tracker(2, 0);
  std::uint32_t node = 0;
  int followed = 0;
  TimePoint now = kStart;
  for (int i = 0; i < 100 && tracker.leader() != kNoNode; ++i) {
    tracker.rejected(node, static_cast<int>(1 - node), now);
    node = 1 - node;
    ++followed;
  }
  EXPECT_EQ(followed, 5);
  EXPECT_EQ(tracker.next_event(true), now + 1ms);
}

TEST(LeaderTracker, OnlyASilentLeaderIsDoubted) {
  LeaderTracker tracker(3, 0);
  tracker.answered(0, kStart + 10ms);
  tracker.timed_out(0, kStart, kStart + 5s);  // it has answered others since
  EXPECT_EQ(tracker.leader(), 0);
  tracker.answered_late(kStart + 4s);
  tracker.timed_out(0, kStart + 1s, kStart + 6s);
  EXPECT_EQ(tracker.leader(), 0);
  tracker.timed_out(1, kStart + 5s, kStart + 10s);  // not the leader
  EXPECT_EQ(tracker.leader(), 0);
  tracker.timed_out(0, kStart + 5s, kStart + 10s);
  EXPECT_EQ(tracker.leader(), kNoNode);
  EXPECT_EQ(tracker.take_probe(kStart + 10s), 1) << "the next one";
}

TEST(LeaderTracker, AFreshLeaderIsNotDoubtedForOldOperations) {
  LeaderTracker tracker(2, kNoNode);
  EXPECT_EQ(tracker.take_probe(kStart), 0);
  tracker.rejected(0, 1, kStart + 1ms);
  tracker.timed_out(1, kStart - 1s, kStart + 2ms);
  EXPECT_EQ(tracker.leader(), 1);
}

TEST(LeaderTracker, ASingleNodeStaysTheLeader) {
  LeaderTracker tracker(1, 0);
  tracker.timed_out(0, kStart, kStart + 5s);
  EXPECT_EQ(tracker.leader(), 0);
}

TEST(LeaderTracker, BelievesWhoeverWatches) {
  LeaderTracker tracker(3, 0);
  tracker.told(1, 5, kStart);
  EXPECT_EQ(tracker.leader(), 1);
  tracker.told(2, 5, kStart);  // not newer than what is known
  EXPECT_EQ(tracker.leader(), 1);
  tracker.told(kNoNode, 6, kStart);  // an election has begun
  EXPECT_EQ(tracker.leader(), 1);
  tracker.told(2, 6, kStart);  // and ended, in the same term
  EXPECT_EQ(tracker.leader(), 2);
  tracker.rejected(2, kNoNode, kStart);
  tracker.told(2, 6, kStart);
  EXPECT_EQ(tracker.leader(), 2) << "better than none";
}

TEST(LeaderTracker, ANewLeaderThatCannotBeReachedEndsTheOldOne) {
  LeaderTracker tracker(3, 0);
  tracker.link_down(1, kStart);
  tracker.told(1, 5, kStart);
  EXPECT_EQ(tracker.leader(), kNoNode);
  tracker.link_up(1, kStart + 20ms);
  EXPECT_EQ(tracker.take_probe(kStart + 20ms), 1);
}

TEST(LeaderTracker, ALostLinkLosesTheLeader) {
  LeaderTracker tracker(2, 0);
  tracker.link_down(0, kStart);
  EXPECT_EQ(tracker.leader(), kNoNode);
  EXPECT_EQ(tracker.take_probe(kStart), 1);
  tracker.link_down(1, kStart + 1ms);
  EXPECT_EQ(tracker.take_probe(kStart + 1ms), kNoNode) << "no node to ask";
  tracker.link_up(0, kStart + 2ms);
  EXPECT_EQ(tracker.take_probe(kStart + 2ms), 0);
}

TEST(LeaderTracker, AProbeThatIsLostIsRepeatedAtOnce) {
  LeaderTracker tracker(2, kNoNode);
  EXPECT_EQ(tracker.take_probe(kStart), 0);
  tracker.link_down(0, kStart + 1ms);
  EXPECT_EQ(tracker.take_probe(kStart + 1ms), 1);
}

TEST(LeaderTracker, ReconnectsWithBackoff) {
  LeaderTracker tracker(2, 1);
  TimePoint now = kStart;
  Duration backoff = 10ms;
  for (int i = 0; i < 10; ++i) {
    tracker.link_down(0, now);
    EXPECT_EQ(tracker.take_reconnect(now + backoff - 1ns), kNoNode);
    EXPECT_EQ(tracker.next_event(false), now + backoff);
    now += backoff;
    EXPECT_EQ(tracker.take_reconnect(now), 0);
    EXPECT_EQ(tracker.take_reconnect(now + 1h), kNoNode) << "until it is known what became of it";
    backoff = std::min<Duration>(2 * backoff, 500ms);
  }
  tracker.link_up(0, now);
  tracker.link_down(0, now);
  EXPECT_EQ(tracker.next_event(false), now + 10ms);
  EXPECT_EQ(tracker.leader(), 1);
}

TEST(LeaderTracker, ADegradedLinkIsUsedAndRepaired) {
  LeaderTracker tracker(2, 0);
  tracker.link_degraded(0, kStart);
  EXPECT_EQ(tracker.leader(), 0);
  EXPECT_EQ(tracker.take_reconnect(kStart + 10ms), 0);
  tracker.link_degraded(0, kStart + 11ms);
  EXPECT_EQ(tracker.next_event(false), kStart + 31ms);
  tracker.link_down(1, kStart);
  tracker.link_degraded(1, kStart + 1ms);
  tracker.rejected(0, 1, kStart + 2ms);
  EXPECT_EQ(tracker.leader(), 1) << "one connection is enough";
}

}  // namespace
}  // namespace raftperf::load
