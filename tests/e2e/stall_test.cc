// SPDX-License-Identifier: Apache-2.0
//
// A pause in the leader or in the client itself: the schedule does not move, nothing is
// booked twice or lost, and the pause shows where it belongs.
#include <csignal>
#include <thread>

#include "tests/e2e/fixture.h"

namespace raftperf::e2e {
namespace {

using Duration = std::chrono::milliseconds;

/// Stops a process for a time. At least: who continues it may be late.
void stall(pid_t pid, Duration length) {
  ASSERT_EQ(::kill(pid, SIGSTOP), 0);
  std::this_thread::sleep_for(length);
  ASSERT_EQ(::kill(pid, SIGCONT), 0);
}

class Stall : public LibraftTest {
 protected:
  /// A run of three seconds whose leader is stopped for `length` in the first second.
  record::RunRecord run_with_stalled_leader(const Words& options, Duration length) {
    Process tool = start(
        run_libraft(options + Words{"--warmup", "500ms", "--measure", "3s", "--timeout", "4s"}));
    const auto nodes = nodes_of(tool, 3);
    EXPECT_TRUE(tool.says("measurement", 60s)) << tool.err();
    stall(nodes.front().pid, length);  // --leader node0 is the default
    const Ended ended = tool.wait(kLong);
    EXPECT_GE(ended.status, 0) << ended.err;
    const auto record = read_record();
    EXPECT_EQ(record.cluster.leader_at_start, 0);
    expect_books_close(record);
    return record;
  }
};

TEST_F(Stall, OfTheLeaderInOpenLoopKeepsTheSchedule) {
  const auto record = run_with_stalled_leader({"--mode", "open", "--rate", "1000"}, Duration{520});
  EXPECT_EQ(record.books.scheduled, 3000U);
  EXPECT_GE(record.response.max.value_or(0), 500 * kMillisecond);
  for (const TimelineRow& row : measured(read_timeline(out() / "timeline.csv"))) {
    EXPECT_EQ(row.number("scheduled"), 1000) << "second " << row.text("second");
  }
  // Whoever came due during the pause has waited: about half of them 250 ms or more.
  auto log = read_histogram_log(out() / "run.hlog");
  EXPECT_GE(log["response"].count_from(250 * kMillisecond), 200);
}

TEST_F(Stall, OfTheLeaderInClosedLoopCollapsesTheCount) {
  constexpr std::int64_t kChains = 4;
  const auto record =
      run_with_stalled_leader({"--threads", std::to_string(kChains)}, Duration{720});
  EXPECT_GE(record.service.max.value_or(0), 500 * kMillisecond);
  // One sample a chain is all that such a client sees of it.
  auto log = read_histogram_log(out() / "run.hlog");
  EXPECT_GE(log["service"].count_from(500 * kMillisecond), 1);
  EXPECT_LE(log["service"].count_from(500 * kMillisecond), kChains);
  const auto rows = measured(read_timeline(out() / "timeline.csv"));
  ASSERT_EQ(rows.size(), 3U);
  std::int64_t least = INT64_MAX;
  std::int64_t most = 0;
  for (const TimelineRow& row : rows) {
    least = std::min(least, row.number("scheduled"));
    most = std::max(most, row.number("scheduled"));
  }
  EXPECT_LT(10 * least, 9 * most);
}

class ClientStall : public LibraftTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(ClientStall, BooksEveryScheduledOperationOnce) {
  Process tool = start(run_libraft({"--mode", "open", "--rate", "1000", "--workers", GetParam(),
                                    "--warmup", "500ms", "--measure", "3s"}));
  ASSERT_TRUE(tool.says("measurement", 60s)) << tool.err();
  stall(tool.pid(), Duration{700});
  EXPECT_GE(tool.wait(kLong).status, 0);
  const auto record = read_record();
  expect_books_close(record);
  EXPECT_EQ(record.books.scheduled, 3000U);
  EXPECT_EQ(record.books.sent + record.books.dropped_total(), 3000U);
  EXPECT_GE(record.lag.max.value_or(0), 600 * kMillisecond);
  EXPECT_GE(record.response.max.value_or(0), 600 * kMillisecond);
  EXPECT_EQ(record.verification.status, "passed") << record.verification.detail;
  EXPECT_EQ(measured(read_timeline(out() / "timeline.csv")).size(), 3U);
}

INSTANTIATE_TEST_SUITE_P(Workers, ClientStall, ::testing::Values("1", "2"));

TEST_F(Stall, OfTheClientInClosedLoopKeepsTheBooks) {
  Process tool = start(run_libraft({"--threads", "8", "--warmup", "500ms", "--measure", "2s"}));
  ASSERT_TRUE(tool.says("measurement", 60s)) << tool.err();
  stall(tool.pid(), Duration{700});
  EXPECT_GE(tool.wait(kLong).status, 0);
  const auto record = read_record();
  expect_books_close(record);
  EXPECT_EQ(record.verification.status, "passed") << record.verification.detail;
  EXPECT_GE(record.turn_gap.max.value_or(0), 600 * kMillisecond);
}

}  // namespace
}  // namespace raftperf::e2e
