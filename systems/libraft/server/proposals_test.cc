// SPDX-License-Identifier: Apache-2.0
#include "systems/libraft/server/proposals.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace raftperf::libraft {
namespace {

using Bytes = std::vector<std::byte>;

/// Keeps what was proposed, as a log does, until the test applies it.
class FakeLog final : public Log {
 public:
  int propose(std::span<const raft_buffer> entries) override {
    if (code != 0) {
      return code;
    }
    calls.push_back(entries.size());
    for (const raft_buffer& entry : entries) {
      const auto* begin = static_cast<const std::byte*>(entry.base);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(begin) % 8, 0U);
      EXPECT_EQ(entry.len % 8, 0U);
      waiting.emplace_back(begin, begin + entry.len);
      raft_free(entry.base);
    }
    return 0;
  }

  int code = 0;
  std::vector<std::size_t> calls;
  std::vector<Bytes> waiting;
};

/// What each correlation id was answered, in words; an id must come once.
class FakeAnswers final : public Answers {
 public:
  void value(const Ticket& ticket, std::uint64_t value) override {
    say(ticket, "value " + std::to_string(value));
  }
  void mismatch(const Ticket& ticket, std::uint64_t value) override {
    say(ticket, "mismatch " + std::to_string(value));
  }
  void not_leader(const Ticket& ticket) override { say(ticket, "not leader"); }
  void failed(const Ticket& ticket, std::string_view text) override {
    say(ticket, "failed " + std::string(text));
  }
  void abandoned(const Ticket& ticket) override { say(ticket, "abandoned"); }

  std::map<std::uint64_t, std::string> said;

 private:
  void say(const Ticket& ticket, const std::string& what) {
    EXPECT_TRUE(said.emplace(ticket.to.correlation_id, what).second)
        << ticket.to.correlation_id << " answered twice: " << what;
  }
};

class ProposalsTest : public ::testing::Test {
 protected:
  void take(wire::Kind kind, std::uint64_t id, const Bytes& body) {
    ASSERT_TRUE(proposals.take({.kind = kind, .correlation_id = id, .body = body}, {}));
  }
  void append(std::uint64_t id) { take(wire::Kind::kAppend, id, Bytes(5)); }
  void get(std::uint64_t id, std::uint64_t key) {
    Bytes body(8);
    wire::store(body.data(), key);
    take(wire::Kind::kGet, id, body);
  }
  void compare_and_set(std::uint64_t id, const wire::CompareAndSet& request) {
    Bytes body(24);
    wire::put(body.data(), request);
    take(wire::Kind::kCompareAndSet, id, body);
  }
  /// Applies the next `count` entries of the log.
  void apply(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_FALSE(log.waiting.empty());
      const auto applied = state.apply(log.waiting.front());
      ASSERT_TRUE(applied);
      proposals.applied(*applied, ++log_index, state);
      log.waiting.erase(log.waiting.begin());
    }
  }
  static Proposals::Limits small() {
    return {.pending_max = 8, .pending_bytes_max = 4096, .batch_max = 4, .batch_bytes_max = 1024};
  }

  FakeLog log;
  FakeAnswers answers;
  StateMachine state;
  Proposals proposals{small(), {.server = 1, .incarnation = 99}, answers};
  std::uint64_t log_index = 100;
};

TEST_F(ProposalsTest, ATurnIsOneCallAndEachRequestGetsItsOwnAnswerOnce) {
  append(1);
  compare_and_set(2, {.key = 5, .expected = 0, .desired = 50});
  compare_and_set(3, {.key = 5, .expected = 0, .desired = 60});
  append(4);
  EXPECT_TRUE(log.calls.empty()) << "nothing before the turn ends";
  proposals.flush(log);
  EXPECT_EQ(log.calls, (std::vector<std::size_t>{4}));
  EXPECT_EQ(proposals.pending(), 4U);
  apply(4);
  EXPECT_EQ(answers.said,
            (std::map<std::uint64_t, std::string>{
                {1, "value 101"}, {2, "value 50"}, {3, "mismatch 50"}, {4, "value 104"}}));
  EXPECT_EQ(proposals.pending(), 0U);
  proposals.flush(log);
  EXPECT_EQ(log.calls.size(), 1U) << "an empty turn proposes nothing";
}

TEST_F(ProposalsTest, AllReadsOfATurnShareOneEntryAndSeeItsWrites) {
  get(1, 5);
  compare_and_set(2, {.key = 5, .expected = 0, .desired = 7});
  get(3, 5);
  get(4, 6);
  proposals.flush(log);
  EXPECT_EQ(log.calls, (std::vector<std::size_t>{2}));
  apply(1);
  EXPECT_EQ(answers.said.size(), 1U) << "reads wait for their own entry";
  apply(1);
  EXPECT_EQ(answers.said[1], "value 7");
  EXPECT_EQ(answers.said[3], "value 7");
  EXPECT_EQ(answers.said[4], "value 0");
  EXPECT_EQ(state.operation_count(), 1U);
}

TEST_F(ProposalsTest, ReadsAloneAreOneEntry) {
  get(1, 5);
  get(2, 5);
  proposals.flush(log);
  EXPECT_EQ(log.calls, (std::vector<std::size_t>{1}));
  append(3);
  proposals.flush(log);
  apply(2);
  EXPECT_EQ(answers.said[2], "value 0");
  EXPECT_EQ(answers.said[3], "value 102");
}

TEST_F(ProposalsTest, ARefusedBatchIsAnsweredAndItsSequencesAreUsedAgain) {
  append(1);
  proposals.flush(log);
  log.code = RAFT_NOTLEADER;
  append(2);
  get(3, 1);
  proposals.flush(log);
  log.code = RAFT_NOSPACE;
  append(4);
  proposals.flush(log);
  log.code = 0;
  append(5);
  proposals.flush(log);
  apply(2);
  EXPECT_EQ(answers.said[1], "value 101");
  EXPECT_EQ(answers.said[2], "not leader");
  EXPECT_EQ(answers.said[3], "not leader");
  EXPECT_EQ(answers.said[4].substr(0, 6), "failed");
  EXPECT_EQ(answers.said[5], "value 102");
}

TEST_F(ProposalsTest, LostLeadershipAnswersNothingAndLateAppliesAreIgnored) {
  append(1);
  get(2, 1);
  proposals.flush(log);
  append(3);  // In the batch only: certainly not applied.
  proposals.abandon();
  EXPECT_EQ(answers.said,
            (std::map<std::uint64_t, std::string>{{1, "abandoned"}, {2, "abandoned"}}));
  log.code = RAFT_NOTLEADER;
  proposals.flush(log);
  EXPECT_EQ(answers.said[3], "not leader");
  apply(2);  // The next leader committed them after all.
  EXPECT_EQ(answers.said.size(), 3U);
  EXPECT_EQ(state.operation_count(), 1U);
  log.code = 0;
  append(4);  // And this node leads again.
  proposals.flush(log);
  apply(1);
  EXPECT_EQ(answers.said[4], "value 103");
}

TEST_F(ProposalsTest, EntriesThatVanishedFromTheLogAreGivenUp) {
  append(1);
  append(2);
  proposals.flush(log);
  log.waiting.erase(log.waiting.begin());
  apply(1);
  EXPECT_EQ(answers.said[1], "abandoned");
  EXPECT_EQ(answers.said[2], "value 101");
}

TEST_F(ProposalsTest, EntriesOfOthersAndOfAnEarlierProcessAreNotOurs) {
  FakeAnswers other_answers;
  for (const Proposals::Origin origin : {Proposals::Origin{.server = 2, .incarnation = 99},
                                         Proposals::Origin{.server = 1, .incarnation = 98}}) {
    Proposals other(small(), origin, other_answers);
    const Bytes body(3);
    ASSERT_TRUE(other.take({.kind = wire::Kind::kAppend, .correlation_id = 7, .body = body}, {}));
    other.flush(log);
  }
  append(1);
  proposals.flush(log);
  apply(2);
  EXPECT_TRUE(answers.said.empty());
  apply(1);
  EXPECT_EQ(answers.said[1], "value 103");
}

TEST_F(ProposalsTest, IsBoundedInRequestsAndInBytes) {
  for (std::uint64_t i = 0; i < 8; ++i) {
    ASSERT_FALSE(proposals.is_full(5));
    append(i);
  }
  EXPECT_TRUE(proposals.is_full(5));
  proposals.flush(log);
  EXPECT_TRUE(proposals.is_full(5));
  apply(1);
  EXPECT_FALSE(proposals.is_full(5));
  EXPECT_TRUE(proposals.is_full(4096)) << "bytes are bounded too";
  apply(7);
  EXPECT_EQ(proposals.pending(), 0U);
}

TEST_F(ProposalsTest, TheRingGoesRoundForEver) {
  for (std::uint64_t i = 0; i < 1000; ++i) {
    append(2 * i);
    get(2 * i + 1, i);
    proposals.flush(log);
    apply(2);
  }
  EXPECT_EQ(answers.said.size(), 2000U);
  EXPECT_EQ(answers.said[1998], "value " + std::to_string(100 + 1999));
}

TEST_F(ProposalsTest, ABatchKnowsWhenItIsFull) {
  append(1);
  EXPECT_FALSE(proposals.batch_is_full());
  take(wire::Kind::kAppend, 2, Bytes(1024));
  EXPECT_TRUE(proposals.batch_is_full());
  proposals.flush(log);
  EXPECT_FALSE(proposals.batch_is_full());
  apply(2);
}

}  // namespace
}  // namespace raftperf::libraft
