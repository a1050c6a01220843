// SPDX-License-Identifier: Apache-2.0
//
// Our books against those of a server in another process: what the stub received,
// applied and answered, to the last operation.
#include "stub/arrival_log.h"
#include "tests/e2e/fixture.h"

namespace raftperf::e2e {
namespace {

using load::Drop;
using load::Reason;
using load::Unknown;

constexpr std::uint64_t kOperations = 3000;

/// Open loop, 2000/s for 1.5 s: kOperations, all of them measured.
Words open_loop(const Words& more) {
  return Words{"--mode", "open",      "--rate", "2000",      "--warmup",
               "0s",     "--measure", "1.5s",   "--timeout", "700ms"} +
         more;
}

class Books : public ToolTest {
 protected:
  struct Both {
    Ended ended;
    record::RunRecord record;
    nlohmann::json counters;
  };

  /// One run against a stub that misbehaves as told, and what all of these have in
  /// common: attempts = received, each with its arrival, and books that close.
  Both compare(const Words& faults, const Words& options) {
    stub::StubProcess stub = start_stub(faults);
    Both both{.ended = run(run_against(to_string(stub.endpoint()), options)),
              .record = read_record(),
              .counters = stub.counters()};
    SCOPED_TRACE(both.counters.dump(2));
    expect_books_close(both.record);
    EXPECT_EQ(counter(both.counters, "received"), both.record.counts.attempts);
    EXPECT_EQ(counter(both.counters, "connections_malformed"), 0U);
    EXPECT_EQ(both.record.client.protocol_errors, 0U);
    const auto arrivals = stub::read_arrival_log(stub.arrival_log());
    EXPECT_TRUE(arrivals.ok());
    EXPECT_EQ(arrivals.ok() ? arrivals->size() : 0, counter(both.counters, "received"));
    return both;
  }

  /// A run in which every operation is sent once and answered.
  Both compare_answered(const Words& faults, const Words& options) {
    Both both = compare(faults, options);
    EXPECT_EQ(both.record.books.sent, both.record.books.scheduled);
    EXPECT_EQ(both.record.books.sent, counter(both.counters, "received"));
    EXPECT_EQ(both.record.books.ok,
              answered(both.counters, "ok") + answered(both.counters, "mismatch"));
    EXPECT_EQ(both.record.books.unknown_total(), 0U);
    return both;
  }

  static void expect_passed(const record::RunRecord& record, const nlohmann::json& counters) {
    EXPECT_EQ(record.verification.status, "passed") << record.verification.detail;
    EXPECT_EQ(record.verification.applied, counter(counters, "applied"));
  }
};

TEST_F(Books, OpenLoop) {
  const Both both = compare_answered({}, open_loop({}));
  EXPECT_EQ(both.record.books.scheduled, kOperations);
  EXPECT_EQ(both.record.books.ok, counter(both.counters, "applied"));
  EXPECT_EQ(counter(both.counters, "received_compare_and_sets"), kOperations);
  expect_passed(both.record, both.counters);
}

TEST_F(Books, ClosedLoop) {
  const Both both = compare_answered({"--delay", "1ms"},
                                     {"--threads", "20", "--warmup", "0s", "--measure", "1s"});
  EXPECT_EQ(both.record.mode, "closed");
  EXPECT_GT(both.record.books.ok, 0U);
  EXPECT_EQ(both.record.response.count, 0U);
  EXPECT_EQ(both.record.lag.count, 0U);
  expect_passed(both.record, both.counters);
}

TEST_F(Books, WarmupIsCountedApart) {
  stub::StubProcess stub = start_stub({});
  run(run_against(to_string(stub.endpoint()),
                  {"--mode", "open", "--rate", "1000", "--warmup", "500ms", "--measure", "1s"}));
  const auto record = read_record();
  expect_books_close(record);
  EXPECT_EQ(record.books.scheduled, 1000U);
  EXPECT_EQ(record.warmup_books.scheduled, 500U);
  EXPECT_EQ(record.verification.acknowledged, record.books.ok + record.warmup_books.ok);
  EXPECT_EQ(counter(stub.counters(), "received"), record.books.sent + record.warmup_books.sent);
}

TEST_F(Books, TwoWorkersStripeOneSchedule) {
  const Both both = compare_answered({}, open_loop({"--workers", "2"}));
  EXPECT_EQ(both.record.books.scheduled, kOperations);
  EXPECT_EQ(both.record.client.workers, 2U);
  expect_passed(both.record, both.counters);
}

TEST_F(Books, BurstThatDividesNothing) {
  const Both both = compare_answered({}, open_loop({"--burst", "7", "--workers", "2"}));
  EXPECT_EQ(both.record.books.scheduled, kOperations);
  // 428 bursts of 7 and a short one; the lag of each one's first operation is kept apart.
  EXPECT_EQ(both.record.burst_lag.count, 429U);
  expect_passed(both.record, both.counters);
}

TEST_F(Books, PoissonIsTheSameForAnyNumberOfWorkers) {
  const Words poisson{"--arrival", "poisson", "--seed", "7"};
  const Both one = compare_answered({}, open_loop(poisson));
  std::filesystem::remove_all(out());
  const Both two = compare_answered({}, open_loop(poisson + Words{"--workers", "2"}));
  EXPECT_EQ(one.record.books.scheduled, two.record.books.scheduled);
  EXPECT_NE(one.record.books.scheduled, kOperations);
  expect_passed(two.record, two.counters);
}

class UniformProfile : public Books, public ::testing::WithParamInterface<int> {};

TEST_P(UniformProfile, AppendsValuesOfThatSize) {
  const Both both = compare_answered(
      {}, open_loop({"--profile", "uniform", "--value-size", std::to_string(GetParam())}));
  EXPECT_EQ(both.record.books.scheduled, kOperations);
  EXPECT_EQ(counter(both.counters, "received_appends"), kOperations);
  EXPECT_EQ(both.record.profile, "uniform");
  EXPECT_GE(counter(both.counters, "bytes_received"),
            kOperations * static_cast<std::uint64_t>(GetParam()));
  expect_passed(both.record, both.counters);
}

INSTANTIATE_TEST_SUITE_P(Bytes, UniformProfile, ::testing::Values(1, 64, 4096));

TEST_F(Books, ErrorsAreRejectedAndNotSentAgain) {
  const Both both = compare({"--error-every", "10"}, open_loop({"--workers", "2"}));
  EXPECT_EQ(both.record.books.rejected, kOperations / 10);
  EXPECT_EQ(both.record.books.rejected, answered(both.counters, "error"));
  EXPECT_EQ(both.record.books.ok, answered(both.counters, "ok"));
  EXPECT_EQ(both.record.counts.attempts, kOperations);
  EXPECT_NE(both.ended.status, 0);  // a tenth failed: OVERLOADED at the least
  expect_passed(both.record, both.counters);
}

TEST_F(Books, BusyIsRejectedWithItsReason) {
  const Both both = compare({"--busy-every", "10"}, open_loop({}));
  EXPECT_EQ(both.record.books.rejected, answered(both.counters, "busy"));
  EXPECT_EQ(both.record.counts.rejected_by[static_cast<std::size_t>(Reason::kBusy)],
            kOperations / 10);
  EXPECT_EQ(both.record.books.ok, counter(both.counters, "applied"));
}

TEST_F(Books, MismatchIsAnsweredAndNeverSentAgain) {
  const Both both = compare_answered({"--mismatch-every", "10"}, open_loop({}));
  EXPECT_EQ(both.record.books.ok, kOperations);
  EXPECT_EQ(both.record.counts.mismatches, answered(both.counters, "mismatch"));
  EXPECT_GE(both.record.counts.mismatches, kOperations / 10);
  expect_passed(both.record, both.counters);
}

TEST_F(Books, DroppedByTheServerIsUnknown) {
  const Both both = compare({"--drop-every", "10"}, open_loop({}));
  EXPECT_EQ(both.record.books.count(Unknown::kTimeout), counter(both.counters, "dropped"));
  EXPECT_EQ(both.record.books.unknown_total(), kOperations / 10);
  EXPECT_EQ(both.record.books.rejected, 0U);
  EXPECT_EQ(both.record.books.ok, counter(both.counters, "applied"));
  EXPECT_EQ(both.record.verification.status, "passed") << both.record.verification.detail;
}

TEST_F(Books, HeldAndAppliedIsUnknownToo) {
  const Both both = compare({"--hold-every", "10"}, open_loop({}));
  EXPECT_EQ(both.record.books.count(Unknown::kTimeout), counter(both.counters, "held"));
  // The held ones were applied, so the next one of the same key finds another value.
  EXPECT_EQ(both.record.books.ok,
            answered(both.counters, "ok") + answered(both.counters, "mismatch"));
  EXPECT_EQ(both.record.books.ok + both.record.books.unknown_total(),
            counter(both.counters, "applied"));
  expect_passed(both.record, both.counters);
}

// C99: applied, and the connection closed without an answer. One chain, so that nothing
// else is on that connection.
TEST_F(Books, AppliedThenClosedIsUnknownAndNeverFailed) {
  stub::StubProcess stub = start_stub({"--apply-then-close-every", "20", "--delay", "1ms"});
  run(run_against(to_string(stub.endpoint()),
                  {"--threads", "1", "--connections", "1", "--warmup", "0s", "--measure", "2s"}));
  const auto record = read_record();
  const auto counters = stub.counters();
  SCOPED_TRACE(counters.dump(2));
  expect_books_close(record);
  EXPECT_GT(counter(counters, "closed_without_answer"), 0U);
  EXPECT_EQ(record.books.count(Unknown::kConnectionLost),
            counter(counters, "closed_without_answer"));
  EXPECT_EQ(record.books.unknown_total(), counter(counters, "closed_without_answer"));
  EXPECT_EQ(record.books.rejected, 0U);
  EXPECT_EQ(record.books.ok, answered(counters, "ok") + answered(counters, "mismatch"));
  expect_passed(record, counters);
}

TEST_F(Books, ManyOnAClosedConnectionAreUnknownTogether) {
  stub::StubProcess stub = start_stub({"--apply-then-close-every", "100", "--delay", "5ms"});
  run(run_against(to_string(stub.endpoint()), open_loop({"--connections", "2"})));
  const auto record = read_record();
  const auto counters = stub.counters();
  SCOPED_TRACE(counters.dump(2));
  expect_books_close(record);
  EXPECT_EQ(record.books.scheduled, kOperations);
  EXPECT_EQ(record.books.rejected, 0U);
  EXPECT_GE(record.books.unknown_total(), counter(counters, "closed_without_answer"));
  EXPECT_LE(counter(counters, "received"), record.counts.attempts);
  EXPECT_EQ(record.books.ok + record.late_replies,
            answered(counters, "ok") + answered(counters, "mismatch"));
  EXPECT_EQ(record.verification.status, "passed") << record.verification.detail;
}

// C109: a positive answer, and nothing applied.
TEST_F(Books, AcknowledgedAndNotAppliedIsFoundToTheLast) {
  const Both both = compare({"--ack-without-apply-every", "1000"}, open_loop({}));
  EXPECT_EQ(both.record.books.ok, kOperations);
  EXPECT_EQ(both.record.verification.status, "failed");
  EXPECT_EQ(both.record.verification.missing, 3U);
  EXPECT_NE(both.record.verification.detail.find("3 missing"), std::string::npos)
      << both.record.verification.detail;
  EXPECT_EQ(both.record.rig.status, "INVALID");
  EXPECT_EQ(both.ended.status, 1);
  EXPECT_NE(both.ended.out.find("3 missing"), std::string::npos) << both.ended.out;
  EXPECT_TRUE(std::filesystem::exists(out() / "INVALID"));
}

TEST_F(Books, AtTheCapOperationsAreDroppedAndNotSent) {
  const Both both = compare({"--delay", "100ms"}, open_loop({"--max-inflight", "50"}));
  const auto& books = both.record.books;
  EXPECT_EQ(books.scheduled, kOperations);
  EXPECT_GT(books.count(Drop::kInflightCap) + books.count(Drop::kRigLate), 0U);
  EXPECT_EQ(books.count(Drop::kNoLeader) + books.count(Drop::kNotAccepted), 0U);
  EXPECT_EQ(books.sent, counter(both.counters, "received"));
  EXPECT_EQ(books.ok, counter(both.counters, "applied"));
  EXPECT_EQ(both.record.counts.at_cap, books.dropped_total());
  EXPECT_NE(both.ended.status, 0);
  expect_passed(both.record, both.counters);
}

// An answer takes 20 ms: no label may turn it into anything else (C73).
TEST_F(Books, LatencyIsInTheUnitThatItsNameSays) {
  const Both both = compare_answered({"--delay", "20ms"}, open_loop({}));
  EXPECT_GE(both.record.service.quantiles[0], 20 * kMillisecond);
  EXPECT_LT(both.record.service.quantiles[0], 2000 * kMillisecond);
  EXPECT_NEAR(both.record.window.offered_per_s.value_or(0), 2000, 0.001);
  EXPECT_NEAR(both.record.window.measure_s, 1.5, 1e-9);
}

}  // namespace
}  // namespace raftperf::e2e
