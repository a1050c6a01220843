// SPDX-License-Identifier: Apache-2.0
//
// Whole runs in real time. Nothing here depends on how fast the machine is.
#include "run/run.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "run/monotonic_clock.h"
#include "stub/stub_process.h"

namespace raftperf::run {
namespace {

using load::Drop;
using load::LoadMode;
using load::Unknown;
using std::chrono::milliseconds;

const drivers::DriverFactory& factory(const std::string& protocol) {
  return **drivers::find_driver(protocol, "/nonexistent");
}

RunPlan sim_plan(LoadMode mode, std::map<std::string, std::string> settings) {
  RunPlan plan;
  plan.mode = mode;
  plan.schedule = {.rate = {.count = 2000 * load::MicroHertz::kPerHertz},
                   .warmup = milliseconds{100},
                   .measure = milliseconds{300}};
  plan.outstanding = 50;
  plan.timeout = plan.drain = std::chrono::seconds{20};
  plan.leader = 0;
  plan.driver.nodes = {{.host = "sim", .port = 1}};
  plan.driver.settings = std::move(settings);
  return plan;
}

RunPlan wire_plan(LoadMode mode, const net::Endpoint& endpoint) {
  RunPlan plan = sim_plan(mode, {});
  plan.schedule.warmup = {};  // so that the books and the server count the same
  plan.driver.nodes = {endpoint};
  plan.driver.connections = 2;
  return plan;
}

void expect_closed(const load::Summary& summary) {
  EXPECT_EQ(summary.imbalance, "");
  EXPECT_EQ(summary.books.imbalance(summary.reported().count()), "");
  EXPECT_EQ(summary.bad_stamps, 0U);
}

TEST(Run, OpenLoopBooksWhatWasScheduled) {
  for (const std::uint32_t workers : {1U, 2U}) {
    RunPlan plan = sim_plan(LoadMode::kOpen, {{"service_time", "1ms"}});
    plan.workers = workers;
    const auto result = execute(plan, factory("sim"), Signals{}, {});
    ASSERT_TRUE(result.ok()) << result.error();
    expect_closed(result->summary);
    EXPECT_EQ(result->summary.books.scheduled, 600U);
    EXPECT_EQ(result->summary.warmup_books.scheduled, 200U);
    EXPECT_EQ(result->worker_cpu_time.size(), workers);
    EXPECT_FALSE(result->summary.interrupted);
    EXPECT_EQ(result->connections_at_start, workers);
  }
}

TEST(Run, ClosedLoopBooksWhatWasSent) {
  for (const std::uint32_t workers : {1U, 2U}) {
    RunPlan plan = sim_plan(LoadMode::kClosed, {{"service_time", "1ms"}});
    plan.workers = workers;
    const auto result = execute(plan, factory("sim"), Signals{}, {});
    ASSERT_TRUE(result.ok()) << result.error();
    expect_closed(result->summary);
    EXPECT_GT(result->summary.books.ok, 0U);
    EXPECT_EQ(result->summary.books.dropped_total(), 0U);
    EXPECT_EQ(result->summary.books.ok, result->summary.books.sent);
  }
}

TEST(Run, StopEndsTheScheduleAndAwaitsTheAnswers) {
  for (const LoadMode mode : {LoadMode::kOpen, LoadMode::kClosed}) {
    RunPlan plan = sim_plan(mode, {{"service_time", "5ms"}});
    plan.schedule.measure = std::chrono::hours{1};
    plan.workers = 2;
    Signals signals;
    const auto result =
        execute(plan, factory("sim"), signals, {.window_started = [&] { signals.stop(); }});
    ASSERT_TRUE(result.ok()) << result.error();
    expect_closed(result->summary);
    EXPECT_TRUE(result->summary.interrupted);
    EXPECT_EQ(result->summary.books.unknown_total(), 0U);
    EXPECT_LT(result->summary.window.end, std::chrono::hours{1});
  }
}

TEST(Run, AbandonAwaitsNothing) {
  RunPlan plan = sim_plan(LoadMode::kClosed, {{"drop_every", "1"}});
  plan.schedule.warmup = {};
  plan.schedule.measure = std::chrono::hours{1};
  plan.timeout = plan.drain = std::chrono::hours{1};
  Signals signals;
  std::atomic<int> samples{0};
  const auto result = execute(plan, factory("sim"), signals, {.sampled = [&] {
                                if (++samples == 10) {
                                  signals.abandon();
                                }
                              }});
  ASSERT_TRUE(result.ok()) << result.error();
  expect_closed(result->summary);
  EXPECT_EQ(result->summary.books.ok, 0U);
  EXPECT_EQ(result->summary.books.count(Unknown::kUnanswered), result->summary.books.sent);
}

/// What an observer told of a run's seconds.
struct Timeline {
  std::vector<std::int64_t> indices;
  std::uint64_t scheduled = 0;
  std::uint64_t ok_by_completion = 0;
  int windows_started = 0;
  int windows_ended = 0;
  int progress = 0;

  ObserverCallbacks callbacks() {
    return {.second =
                [this](const SecondReport& second) {
                  indices.push_back(second.interval.index);
                  scheduled += second.interval.books.scheduled;
                  ok_by_completion += second.ok_by_completion;
                },
            .progress = [this](const Progress&) { ++progress; },
            .window_started = [this] { ++windows_started; },
            .window_ended = [this] { ++windows_ended; }};
  }
};

TEST(Run, ReportsEverySecondAlsoIdleAndDrain) {
  // One operation every two seconds, answered after 2.5 s: seconds in which nothing is
  // due, and a drain.
  RunPlan plan = sim_plan(LoadMode::kOpen, {{"service_time", "2500ms"}});
  plan.schedule = {.rate = {.count = load::MicroHertz::kPerHertz / 2},
                   .warmup = std::chrono::seconds{2},
                   .measure = std::chrono::seconds{2}};
  Timeline timeline;
  const auto result = execute(plan, factory("sim"), Signals{}, timeline.callbacks());
  ASSERT_TRUE(result.ok()) << result.error();
  expect_closed(result->summary);
  ASSERT_GE(timeline.indices.size(), 5U);
  EXPECT_EQ(timeline.indices.front(), -2);
  EXPECT_GE(timeline.indices.back(), 2) << "a second of the drain";
  for (std::size_t i = 1; i < timeline.indices.size(); ++i) {
    EXPECT_EQ(timeline.indices[i], timeline.indices[i - 1] + 1);
  }
  EXPECT_EQ(timeline.scheduled, 2U);
  EXPECT_EQ(timeline.ok_by_completion, result->summary.acknowledged);
  EXPECT_EQ(timeline.windows_started, 1);
  EXPECT_EQ(timeline.windows_ended, 1);
  EXPECT_GE(timeline.progress, 1);
  EXPECT_GT(result->summary.in_flight.count, 0U);
}

TEST(Run, BooksEqualTheStubsCounters) {
  for (const LoadMode mode : {LoadMode::kOpen, LoadMode::kClosed}) {
    auto stub = stub::StubProcess::start({});
    ASSERT_TRUE(stub.ok()) << stub.error();
    RunPlan plan = wire_plan(mode, stub->endpoint());
    plan.workers = 2;
    const auto result = execute(plan, factory("wire"), Signals{}, {});
    ASSERT_TRUE(result.ok()) << result.error();
    expect_closed(result->summary);
    const auto counters = stub->counters();
    EXPECT_EQ(counters.at("received"), result->summary.books.sent);
    EXPECT_EQ(counters.at("applied"), result->summary.acknowledged);
    EXPECT_EQ(counters.at("connections_accepted"), 4);
    EXPECT_EQ(result->transport.frames_sent, result->summary.books.sent);
    EXPECT_EQ(result->transport.frames_received, result->summary.books.ok);
    EXPECT_EQ(counters.at("bytes_received"),
              result->request_bytes * result->summary.books.sent + 4 * (16 + 12));
  }
}

TEST(Run, SurvivesConnectionsThatAreLost) {
  auto stub = stub::StubProcess::start({"--apply-then-close-every", "100"});
  ASSERT_TRUE(stub.ok()) << stub.error();
  RunPlan plan = wire_plan(LoadMode::kClosed, stub->endpoint());
  plan.workload.kind = load::OperationKind::kCompareAndSet;
  const auto result = execute(plan, factory("wire"), Signals{}, {});
  ASSERT_TRUE(result.ok()) << result.error();
  expect_closed(result->summary);
  EXPECT_GT(result->summary.books.count(Unknown::kConnectionLost), 0U);
  EXPECT_GT(result->summary.books.ok, 0U);
  // What left in a connection's last moment was not received.
  EXPECT_LE(stub->counters().at("received"), result->transport.frames_sent);
}

TEST(Run, SaysWhyItCannotStart) {
  RunPlan plan = wire_plan(LoadMode::kClosed, {.host = "no-such-host.invalid", .port = 1});
  const auto result = execute(plan, factory("wire"), Signals{}, {});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().find("no-such-host.invalid"), std::string::npos);
}

/// Has three of four connections, as under a low `ulimit -n`.
class ShortDriver final : public drivers::Driver {
 public:
  Result<void> connect(load::CompletionSink&) override { return {}; }
  std::size_t submit(std::span<const load::Operation>) noexcept override { return 0; }
  void poll() noexcept override {}
  void reconnect(std::uint32_t) noexcept override {}
  [[nodiscard]] int wait_descriptor() const noexcept override { return -1; }
  [[nodiscard]] drivers::TransportStats transport() const override {
    return {.connections_asked = 4, .connections_live = 3, .trouble = "too many open files"};
  }
  [[nodiscard]] std::uint32_t request_bytes(const load::Operation&) const noexcept override {
    return 1;
  }
  [[nodiscard]] std::string_view name() const noexcept override { return "short"; }
};

TEST(Run, RefusesFewerConnectionsThanAsked) {
  const drivers::DriverFactory short_factory{
      .protocol = "short",
      .create = [](const drivers::DriverConfig&) -> Result<drivers::DriverPtr> {
        return drivers::DriverPtr(std::make_unique<ShortDriver>());
      }};
  RunPlan plan = sim_plan(LoadMode::kClosed, {});
  plan.workers = 2;
  const auto result = execute(plan, short_factory, Signals{}, {});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error(), "6 of 8 connections could be made: too many open files");
}

}  // namespace
}  // namespace raftperf::run
