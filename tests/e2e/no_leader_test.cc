// SPDX-License-Identifier: Apache-2.0
//
// Without a leader: operations wait with their clocks running, or are dropped where the
// user wants that; redirects are followed within bounds.
#include "tests/e2e/fixture.h"

namespace raftperf::e2e {
namespace {

using load::Drop;

/// 500/s for 3 s.
Words open_loop(const Words& more) {
  return Words{"--mode", "open", "--rate", "500", "--warmup", "0s", "--measure", "3s"} + more;
}

class NoLeader : public ToolTest {
 protected:
  record::RunRecord run_on(const std::string& nodes, const Words& options) {
    ended_ = run(run_against(nodes, options));
    const auto record = read_record();
    expect_books_close(record);
    return record;
  }

  Ended ended_;
};

TEST_F(NoLeader, DueOperationsAreHeldForASecond) {
  stub::StubProcess stub = start_stub({"--not-leader", "-1", "--not-leader-window", "1s:1s"});
  const auto record = run_on(to_string(stub.endpoint()), open_loop({}));
  EXPECT_EQ(record.books.scheduled, 1500U);
  EXPECT_EQ(record.books.dropped_total(), 0U);  // 500 wait, and the cap is 1000
  EXPECT_EQ(record.books.ok, 1500U);
  EXPECT_GE(record.response.max.value_or(0), 900 * kMillisecond);
  // The outage shows in the clock that starts when an operation is due, not in that
  // which starts when it is sent.
  auto log = read_histogram_log(out() / "run.hlog");
  EXPECT_GE(log["response"].count_from(500 * kMillisecond), 200);
  EXPECT_GT(record.counts.redirects, 0U);
  EXPECT_EQ(record.counts.attempts, counter(stub.counters(), "received"));
  EXPECT_EQ(record.counts.redirects, answered(stub.counters(), "not_leader"));
  EXPECT_EQ(record.verification.status, "passed") << record.verification.detail;
}

TEST_F(NoLeader, BeyondTheCapTheyAreDroppedForThatReason) {
  stub::StubProcess stub = start_stub({"--not-leader", "-1", "--not-leader-window", "1s:1s"});
  const auto record = run_on(to_string(stub.endpoint()), open_loop({"--max-inflight", "100"}));
  EXPECT_EQ(record.books.scheduled, 1500U);
  EXPECT_GE(record.books.count(Drop::kNoLeader), 200U);
  EXPECT_EQ(record.books.ok, counter(stub.counters(), "applied"));
  EXPECT_NE(ended_.status, 0);
}

TEST_F(NoLeader, DropPolicyDropsAtOnce) {
  stub::StubProcess stub = start_stub({"--not-leader", "-1", "--not-leader-window", "1s:1s"});
  const auto record = run_on(to_string(stub.endpoint()), open_loop({"--no-leader", "drop"}));
  EXPECT_EQ(record.books.scheduled, 1500U);
  EXPECT_GE(record.books.count(Drop::kNoLeader), 200U);
  EXPECT_GT(record.books.ok, 0U);
  EXPECT_EQ(record.books.ok, counter(stub.counters(), "applied"));
  const auto rows = measured(read_timeline(out() / "timeline.csv"));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_GT(rows.back().number("ok"), 0) << "traffic has not come back";
}

TEST_F(NoLeader, ClosedLoopWaitsToo) {
  stub::StubProcess stub =
      start_stub({"--not-leader", "-1", "--not-leader-window", "500ms:1s", "--delay", "1ms"});
  const auto record =
      run_on(to_string(stub.endpoint()), {"--threads", "5", "--warmup", "0s", "--measure", "2s"});
  EXPECT_EQ(record.books.dropped_total(), 0U);
  EXPECT_EQ(record.books.ok, counter(stub.counters(), "applied"));
}

// C103: a follower at the start costs redirects, not operations.
TEST_F(NoLeader, ARedirectIsFollowedAndCounted) {
  stub::StubProcess leader = start_stub({"--node", "0"});
  // Leads until the first operation comes, and then says that node 0 does.
  stub::StubProcess follower = start_stub({"--node", "1", "--leader", "0", "--not-leader", "0"});
  const std::string nodes = to_string(leader.endpoint()) + "," + to_string(follower.endpoint());
  const auto record = run_on(nodes, open_loop({"--measure", "1s"}));
  EXPECT_EQ(record.books.ok, 500U);
  EXPECT_EQ(counter(leader.counters(), "applied"), 500U);
  EXPECT_EQ(record.counts.redirects, answered(follower.counters(), "not_leader"));
}

TEST_F(NoLeader, TwoThatRedirectToEachOtherAreBounded) {
  // Node 0 leads until the first operation has come, so that the run begins.
  stub::StubProcess a =
      start_stub({"--node", "0", "--not-leader", "1", "--not-leader-window", "0s:1h"});
  stub::StubProcess b = start_stub({"--node", "1", "--leader", "0", "--not-leader", "0"});
  const std::string nodes = to_string(a.endpoint()) + "," + to_string(b.endpoint());
  const auto record = run_on(nodes, open_loop({"--measure", "1s", "--timeout", "1s"}));
  EXPECT_EQ(record.books.scheduled, 500U);
  EXPECT_EQ(record.books.ok, 0U);
  // Whose last attempt was on its way at the deadline is unknown, all others rejected.
  EXPECT_EQ(record.books.unknown_total(), record.books.count(load::Unknown::kTimeout));
  EXPECT_GT(record.books.rejected + record.books.dropped_total(), 400U);
  const std::uint64_t received =
      counter(a.counters(), "received") + counter(b.counters(), "received");
  EXPECT_EQ(received, record.counts.attempts);
  // Two seconds, a few hundred waiting: a loop without a brake would send millions.
  EXPECT_LT(received, 500U * 200U);
  EXPECT_EQ(ended_.status, 1);
  EXPECT_EQ(record.rig.status, "INVALID");
}

TEST_F(NoLeader, AHintOutsideOfTheClusterIsNoPlaceToGo) {
  stub::StubProcess stub = start_stub({"--not-leader", "7", "--not-leader-window", "500ms:500ms"});
  const auto record = run_on(to_string(stub.endpoint()), open_loop({"--measure", "2s"}));
  EXPECT_EQ(record.books.scheduled, 1000U);
  EXPECT_EQ(record.books.ok, 1000U);
  EXPECT_GT(record.counts.redirects, 0U);
}

TEST_F(NoLeader, AHintToANodeThatIsDownEndsTheSearchElsewhere) {
  stub::StubProcess stub =
      start_stub({"--node", "0", "--not-leader", "1", "--not-leader-window", "2s:500ms"});
  stub::StubProcess down = start_stub({"--node", "1", "--leader", "0"});
  const std::string nodes = to_string(stub.endpoint()) + "," + to_string(down.endpoint());
  Process tool = start(run_against(nodes, open_loop({"--measure", "3s", "--warmup", "1s"})));
  ASSERT_TRUE(tool.says("measurement", 60s)) << tool.err();
  EXPECT_EQ(down.stop(), 0);
  EXPECT_GE(tool.wait(kLong).status, 0);
  const auto record = read_record();
  expect_books_close(record);
  EXPECT_EQ(record.books.scheduled, 1500U);
  EXPECT_GT(record.books.ok, 0U);
}

TEST_F(NoLeader, NobodyLeadsAtTheStart) {
  stub::StubProcess stub = start_stub({"--leader", "-1", "--not-leader", "-1"});
  const Ended ended = run(run_against(to_string(stub.endpoint()), open_loop({})));
  EXPECT_EQ(ended.status, 3) << ended.err;
  EXPECT_NE(ended.err.find("no leader"), std::string::npos) << ended.err;
  EXPECT_FALSE(std::filesystem::exists(out()));
}

}  // namespace
}  // namespace raftperf::e2e
