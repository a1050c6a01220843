// SPDX-License-Identifier: Apache-2.0
//
// Nodes that die in the middle of a run: it ends by itself, with a whole record.
#include <csignal>
#include <thread>

#include "tests/e2e/fixture.h"

namespace raftperf::e2e {
namespace {

std::vector<record::EventRecord> events_of(const record::RunRecord& record,
                                           const std::string& code) {
  std::vector<record::EventRecord> found;
  for (const auto& event : record.cluster.events) {
    if (event.code == code) {
      found.push_back(event);
    }
  }
  return found;
}

/// Kills a node with operations on their way to it: it first stops reading.
void kill_with_operations_outstanding(pid_t pid) {
  ASSERT_EQ(::kill(pid, SIGSTOP), 0);
  std::this_thread::sleep_for(50ms);
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
}

using Outage = LibraftTest;

TEST_F(Outage, OfTheLeaderIsSurvived) {
  Process tool = start(run_libraft({"--mode", "open", "--rate", "500", "--warmup", "500ms",
                                    "--measure", "12s", "--timeout", "2s"}));
  const auto nodes = nodes_of(tool, 3);
  ASSERT_TRUE(tool.says("measurement", 60s)) << tool.err();
  kill_with_operations_outstanding(nodes.front().pid);
  const Ended ended = tool.wait(kLong);
  EXPECT_TRUE(ended.status == 0 || ended.status == 1 || ended.status == 4) << ended.status;
  const auto record = read_record();
  SCOPED_TRACE(ended.out + ended.err);
  expect_books_close(record);
  EXPECT_EQ(record.books.scheduled, 6000U);
  const auto exits = events_of(record, "node_exited");
  ASSERT_EQ(exits.size(), 1U);
  EXPECT_EQ(exits.front().node, 0);
  EXPECT_FALSE(exits.front().planned);
  EXPECT_GE(record.cluster.leader_changes, 1U);
  EXPECT_FALSE(record.cluster.leader_at_end == 0);
  EXPECT_GT(record.cluster.term_at_end.value_or(0), record.cluster.term_at_start.value_or(0));
  // What was on its way may have been applied: unknown, and nothing was refused for good.
  EXPECT_GT(record.books.unknown_total(), 0U);
  EXPECT_EQ(record.books.rejected, 0U);
  EXPECT_EQ(record.verification.status, "passed") << record.verification.detail;
  EXPECT_GE(record.verification.applied.value_or(0), record.verification.acknowledged);
  const auto rows = measured(read_timeline(out() / "timeline.csv"));
  ASSERT_EQ(rows.size(), 12U);
  EXPECT_GT(rows.back().number("ok_by_completion"), 0) << "traffic has not come back";
  for (const TimelineRow& row : rows) {
    EXPECT_EQ(row.number("scheduled"), 500);
  }
  expect_no_servers(2s);
}

TEST_F(Outage, OfAFollowerLosesNothing) {
  Process tool = start(
      run_libraft({"--mode", "open", "--rate", "500", "--warmup", "500ms", "--measure", "3s"}));
  const auto nodes = nodes_of(tool, 3);
  ASSERT_TRUE(tool.says("measurement", 60s)) << tool.err();
  ASSERT_EQ(::kill(nodes.back().pid, SIGKILL), 0);
  tool.wait(kLong);
  const auto record = read_record();
  expect_books_close(record);
  EXPECT_EQ(record.books.scheduled, 1500U);
  EXPECT_EQ(events_of(record, "node_exited").size(), 1U);
  EXPECT_NE(record.rig.status, "VALID");  // one node fewer was measured than it says
  EXPECT_EQ(record.verification.status, "passed") << record.verification.detail;
}

TEST_F(Outage, OfEveryNodeStillGivesARecord) {
  Process tool = start(run_libraft({"--mode", "open", "--rate", "500", "--warmup", "500ms",
                                    "--measure", "3s", "--timeout", "1s"}));
  const auto nodes = nodes_of(tool, 3);
  ASSERT_TRUE(tool.says("measurement", 60s)) << tool.err();
  for (const NodeNotice& node : nodes) {
    ASSERT_EQ(::kill(node.pid, SIGKILL), 0);
  }
  const Ended ended = tool.wait(kLong);
  EXPECT_GT(ended.status, 0) << ended.out << ended.err;
  const auto record = read_record();
  expect_books_close(record);
  EXPECT_EQ(record.books.scheduled, 1500U);
  EXPECT_LT(record.books.ok, 1500U);
  EXPECT_EQ(events_of(record, "node_exited").size(), 3U);
  EXPECT_EQ(record.verification.status, "not_done");
  EXPECT_FALSE(record.window.interrupted);
  EXPECT_EQ(measured(read_timeline(out() / "timeline.csv")).size(), 3U);
}

}  // namespace
}  // namespace raftperf::e2e
