// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C, SIGTERM and SIGKILL at any moment: a record of what was measured, and nothing
// left behind.
#include <csignal>
#include <random>
#include <thread>

#include "tests/e2e/fixture.h"

namespace raftperf::e2e {
namespace {

namespace fs = std::filesystem;

constexpr int kInterrupted = 130;

class Interrupt : public LibraftTest {
 protected:
  struct Running {
    Process tool;
    std::vector<NodeNotice> nodes;
    std::vector<fs::path> data;
  };

  /// A long run that has come to its measurement.
  Running start_long_run(const Words& more = {}) {
    Process tool = start(run_libraft(
        Words{"--mode", "open", "--rate", "500", "--warmup", "500ms", "--measure", "120s"} + more));
    auto nodes = nodes_of(tool, 3);
    auto data = data_directories(servers());
    EXPECT_EQ(data.size(), 3U);
    EXPECT_TRUE(tool.says("measurement", 60s)) << tool.err();
    return {.tool = std::move(tool), .nodes = std::move(nodes), .data = std::move(data)};
  }

  void expect_nothing_left(const Running& running, std::chrono::milliseconds limit) const {
    expect_no_servers(limit);
    for (const NodeNotice& node : running.nodes) {
      EXPECT_FALSE(is_alive(node.pid)) << node.pid;
    }
    for (const fs::path& each : running.data) {
      EXPECT_TRUE(eventually([&] { return !fs::exists(each.parent_path()); }, limit)) << each;
    }
  }

  void expect_interrupted_record(const Ended& ended) const {
    EXPECT_EQ(ended.status, kInterrupted) << ended.err;
    const auto record = read_record();
    EXPECT_TRUE(record.window.interrupted);
    EXPECT_GT(record.books.scheduled, 0U);
    EXPECT_LT(record.books.scheduled, 60000U);
    expect_books_close(record);
    const load::Books books = sum(measured(read_timeline(out() / "timeline.csv")));
    EXPECT_EQ(books.scheduled, record.books.scheduled);
    EXPECT_EQ(books.ok, record.books.ok);
    EXPECT_NE(ended.out.find("interrupted"), std::string::npos) << ended.out;
  }
};

TEST_F(Interrupt, CtrlCMidWindowKeepsWhatWasMeasured) {
  Running running = start_long_run();
  running.tool.send_signal_to_group(SIGINT);  // a terminal sends it to all of us
  expect_interrupted_record(running.tool.wait(kLong));
  EXPECT_EQ(read_record().verification.status, "passed");
  expect_nothing_left(running, 1s);
  EXPECT_TRUE(!fs::exists(state() / "runs") || fs::is_empty(state() / "runs"));
}

class OtherSignal : public Interrupt, public ::testing::WithParamInterface<int> {};

TEST_P(OtherSignal, IsLikeCtrlC) {
  Running running = start_long_run();
  running.tool.send_signal(GetParam());
  expect_interrupted_record(running.tool.wait(kLong));
  expect_nothing_left(running, 1s);
}

INSTANTIATE_TEST_SUITE_P(Signals, OtherSignal, ::testing::Values(SIGTERM, SIGHUP));

TEST_F(Interrupt, TwiceDoesNotWaitForAnswers) {
  // A leader that is stopped answers nothing: the drain would last its whole 60 s.
  Running running = start_long_run({"--timeout", "60s"});
  ASSERT_EQ(::kill(running.nodes.front().pid, SIGSTOP), 0);
  std::this_thread::sleep_for(100ms);
  running.tool.send_signal_to_group(SIGINT);
  std::this_thread::sleep_for(50ms);
  running.tool.send_signal_to_group(SIGINT);
  expect_interrupted_record(running.tool.wait(40s));
  EXPECT_GT(read_record().books.unknown_total(), 0U);
  expect_nothing_left(running, 1s);
}

TEST_F(Interrupt, DuringStartUpLeavesNothing) {
  std::mt19937 random(std::random_device{}());
  std::uniform_int_distribution<int> delay_ms(0, 800);
  for (int round = 0; round < 10; ++round) {
    const int delay = round == 0 ? 0 : delay_ms(random);
    SCOPED_TRACE("SIGINT after " + std::to_string(delay) + " ms");
    // On disk the data lie where only this test looks.
    Process tool = start(run_libraft({"--mode", "open", "--rate", "100", "--warmup", "0s",
                                      "--measure", "60s", "--durability", "fsync"}));
    std::this_thread::sleep_for(std::chrono::milliseconds(delay));
    tool.send_signal_to_group(SIGINT);
    const Ended ended = tool.wait(40s);
    EXPECT_EQ(ended.status, kInterrupted) << ended.err;
    expect_no_servers(6s);
    for (const char* kind : {"runs", "data"}) {
      EXPECT_TRUE(eventually(
          [&] { return !fs::exists(state() / kind) || fs::is_empty(state() / kind); }, 6s))
          << kind;
    }
    // Nothing measured, nothing left; else a whole record.
    if (fs::exists(out())) {
      EXPECT_TRUE(read_record().window.interrupted);
      fs::remove_all(out());
    }
  }
}

TEST_F(Interrupt, KilledToolTakesItsClusterAlong) {
  Running running = start_long_run();
  running.tool.send_signal(SIGKILL);
  EXPECT_EQ(running.tool.wait(10s).status, 128 + SIGKILL);
  expect_nothing_left(running, 6s);
  // The seconds that were over are on disk, each whole.
  EXPECT_GE(read_timeline(out() / "timeline.csv").size(), 1U);
}

TEST_F(Interrupt, KilledDuringStartUpTakesItsClusterAlong) {
  for (const int delay : {30, 200, 600}) {
    Process tool = start(run_libraft({"--warmup", "0s", "--measure", "60s"}));
    std::this_thread::sleep_for(std::chrono::milliseconds(delay));
    const auto data = data_directories(servers());
    tool.send_signal(SIGKILL);
    tool.wait(10s);
    expect_no_servers(6s);
    for (const fs::path& each : data) {
      EXPECT_TRUE(eventually([&] { return !fs::exists(each.parent_path()); }, 6s)) << each;
    }
    fs::remove_all(out());
  }
}

}  // namespace
}  // namespace raftperf::e2e
