// SPDX-License-Identifier: Apache-2.0
//
// A worker turned by hand. Whole runs are tests/scenarios.
#include "load/worker.h"

#include <gtest/gtest.h>

#include "load/completion_sink.h"

namespace raftperf::load {
namespace {

using namespace std::chrono_literals;

class HandClock final : public TimeSource {
 public:
  TimePoint now() noexcept override { return now_; }
  void set(TimePoint now) noexcept { now_ = now; }

 private:
  TimePoint now_{1h};
};

constexpr TimePoint kStart{1h};

struct Bench {
  explicit Bench(WorkerOptions options, const ArrivalSchedule* schedule = nullptr)
      : worker(options, schedule, clock), sink(worker) {
    worker.start(kStart);
  }

  /// A turn without a driver: what was offered, of which `take` are accepted.
  std::vector<Operation> turn(TimePoint now, std::size_t take = SIZE_MAX) {
    clock.set(now);
    worker.begin_turn(now, Duration{0});
    const auto due = worker.due(now);
    std::vector<Operation> offered(due.begin(), due.end());
    if (!offered.empty()) {
      worker.accepted(std::min(take, offered.size()), now);
    }
    worker.end_turn(now);
    return offered;
  }
  void answer(const Operation& operation, TimePoint now, Completion completion = {}) {
    clock.set(now);
    completion.id = operation.id;
    sink.complete(completion, sink.arrived());
  }

  HandClock clock;
  Worker worker;
  CompletionSink sink;
};

WorkerOptions closed(std::uint32_t chains) {
  return {
      .mode = LoadMode::kClosed, .slots = chains, .window = {.start = 0s, .end = 1s}, .leader = 0};
}

ArrivalSchedule thousand_per_second(std::uint64_t burst = 1) {
  return *ArrivalSchedule::create(
      {.rate = {.count = 1000 * MicroHertz::kPerHertz}, .burst = burst, .measure = 1s});
}

WorkerOptions open(const ArrivalSchedule& schedule, std::uint32_t slots) {
  return {.slots = slots, .window = schedule.window(), .leader = 0};
}

TEST(Worker, ChainsWaitForTheCommonStart) {
  Bench bench(closed(3));
  EXPECT_TRUE(bench.turn(kStart - 10ms).empty());
  EXPECT_EQ(bench.worker.next_wake(), kStart);
  EXPECT_EQ(bench.turn(kStart).size(), 3U);
}

TEST(Worker, ChainsStopAtTheEndOfTheWindowAndSleep) {
  Bench bench(closed(2));
  const auto sent = bench.turn(kStart + 999ms);
  ASSERT_EQ(sent.size(), 2U);
  bench.answer(sent[0], kStart + 1100ms);
  EXPECT_TRUE(bench.turn(kStart + 1100ms).empty());
  EXPECT_GT(bench.worker.next_wake(), kStart + 1100ms) << "nothing to do but to wait";
  bench.answer(sent[1], kStart + 1200ms);
  bench.turn(kStart + 1200ms);
  EXPECT_TRUE(bench.worker.finished());
}

TEST(Worker, MoreThanABatchIsNotBackPressure) {
  const auto schedule = thousand_per_second(600);
  Bench bench(open(schedule, 1000), &schedule);
  EXPECT_EQ(bench.turn(kStart).size(), 256U);
  EXPECT_EQ(bench.worker.next_wake(), kStart) << "the rest goes out at once";
  EXPECT_EQ(bench.turn(kStart + 1us, 10).size(), 256U);
  EXPECT_EQ(bench.worker.next_wake(), kStart + 21us) << "the driver is full";
}

TEST(Worker, OffersAgainWhatWasNotTakenInOrder) {
  const auto schedule = thousand_per_second(5);
  Bench bench(open(schedule, 10), &schedule);
  const auto first = bench.turn(kStart, 2);
  ASSERT_EQ(first.size(), 5U);
  const auto second = bench.turn(kStart + 20us);
  ASSERT_EQ(second.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(second[i].value, first[i + 2].value);
    EXPECT_NE(second[i].id, first[i + 2].id) << "another attempt";
  }
}

TEST(Worker, SendsARedirectedOperationBeforeNewOnes) {
  const auto schedule = thousand_per_second();
  auto options = open(schedule, 10);
  options.nodes = 2;
  Bench bench(options, &schedule);
  const auto first = bench.turn(kStart);
  ASSERT_EQ(first.size(), 1U);
  bench.answer(first[0], kStart + 1ms,
               {.outcome = Outcome::kRejected, .reason = Reason::kNotLeader, .leader_hint = 1});
  const auto second = bench.turn(kStart + 1ms);
  ASSERT_EQ(second.size(), 2U);
  EXPECT_EQ(second[0].value, first[0].value);
  EXPECT_EQ(second[0].node, 1U);
  bench.answer(first[0], kStart + 1ms);  // twice answered: the second is late
  EXPECT_EQ(bench.worker.facts().late_replies, 1U);
}

TEST(Worker, KnowsTheValueOfAChainsKey) {
  WorkerOptions options = closed(1);
  options.workload.kind = OperationKind::kCompareAndSet;
  Bench bench(options);
  const auto first = bench.turn(kStart);
  EXPECT_EQ(first.at(0).expected, 0U);
  bench.answer(first[0], kStart + 1ms, {.value = first[0].value});
  const auto second = bench.turn(kStart + 1ms);
  EXPECT_EQ(second.at(0).key, first[0].key);
  EXPECT_EQ(second.at(0).expected, first[0].value);
  bench.answer(second[0], kStart + 2ms, {.reason = Reason::kMismatch, .value = 77});
  EXPECT_EQ(bench.turn(kStart + 2ms).at(0).expected, 77U) << "what the mismatch taught";
}

TEST(Worker, TheDeadlineCountsFromTheActualSend) {
  const auto schedule = thousand_per_second(1000);
  auto options = open(schedule, 1000);
  options.timeout = 1s;
  Bench bench(options, &schedule);
  bench.turn(kStart, 1);
  bench.turn(kStart + 500ms, 1);
  bench.turn(kStart + 999ms, 0);
  EXPECT_EQ(bench.worker.in_flight(), 1000U);
  bench.turn(kStart + 1s, 0);  // the first sent, and all that were never taken
  EXPECT_EQ(bench.worker.in_flight(), 1U);
  bench.turn(kStart + 1500ms, 0);
  EXPECT_EQ(bench.worker.in_flight(), 0U);
  EXPECT_EQ(bench.worker.facts().unknown, 2U);
}

TEST(Worker, FindsBadStamps) {
  Bench bench(closed(1));
  const auto sent = bench.turn(kStart + 10ms);
  bench.clock.set(kStart + 20ms);
  const Completion completion{.id = sent.at(0).id};
  bench.sink.complete(completion, bench.sink.arrived_at(kStart + 30ms));  // in the future
  EXPECT_EQ(bench.worker.facts().bad_stamps, 1U);
  const auto again = bench.turn(kStart + 20ms);
  bench.sink.complete({.id = again.at(0).id}, bench.sink.arrived_at(kStart + 15ms));
  EXPECT_EQ(bench.worker.facts().bad_stamps, 2U) << "before it was sent";
}

TEST(Worker, AbandonsWithClosedBooks) {
  const auto schedule = thousand_per_second(10);
  Bench bench(open(schedule, 100), &schedule);
  bench.turn(kStart, 4);
  bench.worker.stop(kStart + 1ms);
  bench.worker.abandon(kStart + 1ms);
  EXPECT_TRUE(bench.worker.finished());
  const auto delivery = bench.worker.recorder().exchange().take();
  ASSERT_EQ(delivery.finished.size(), 1U);
  const Books& books = delivery.finished[0]->books;
  EXPECT_EQ(books.imbalance(0), "");
  EXPECT_EQ(books.count(Unknown::kUnanswered), 4U);
  EXPECT_EQ(books.count(Drop::kNotAccepted), 6U);
}

}  // namespace
}  // namespace raftperf::load
