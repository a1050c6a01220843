// SPDX-License-Identifier: Apache-2.0
#include "stub/node.h"

#include <gtest/gtest.h>

#include <array>

namespace raftperf::stub {
namespace {

using namespace std::chrono_literals;
using wire::Kind;
using wire::Status;

constexpr TimePoint kStart{1h};

/// A node and the requests of a client that knows no sockets.
class NodeTest : public testing::Test {
 protected:
  void make(FaultPlan faults, Identity identity = {}) {
    node_.emplace(identity, std::move(faults), counters_);
  }

  Decision append(TimePoint now = kStart) { return decide(Kind::kAppend, payload_, now); }
  Decision get(std::uint64_t key) {
    std::array<std::byte, 8> body;
    wire::store(body.data(), key);
    return decide(Kind::kGet, body, kStart);
  }
  Decision compare_and_set(const wire::CompareAndSet& request) {
    std::array<std::byte, wire::kCompareAndSetSize> body;
    wire::put(body.data(), request);
    return decide(Kind::kCompareAndSet, body, kStart);
  }
  Decision decide(Kind kind, std::span<const std::byte> body, TimePoint now) {
    return node_->decide({.kind = kind, .correlation_id = ++id_, .body = body}, now);
  }
  Status transfer(std::int32_t to) {
    std::array<std::byte, 4> body;
    wire::store(body.data(), to);
    std::vector<std::byte> out;
    node_->answer_control({.kind = Kind::kTransferLeader, .body = body}, kStart, out);
    return wire::parse_frame(out).frame.status;
  }

  std::array<std::byte, 5> payload_{std::byte{1}, std::byte{2}};
  std::uint64_t id_ = 0;
  Counters counters_;
  std::optional<Node> node_;
};

TEST_F(NodeTest, AppliesAndKeepsTheChecksumOfTheSpecification) {
  make({}, {.node = 2, .leader = 2, .run_token = 9});
  EXPECT_EQ(append().answer.value, 1U);
  EXPECT_EQ(append().answer.value, 2U);
  const wire::CompareAndSet write{.key = 5, .expected = 0, .desired = 7};
  EXPECT_EQ(compare_and_set(write).answer.status, Status::kOk);
  const Decision failed = compare_and_set(write);
  EXPECT_EQ(failed.action, Action::kServe);
  EXPECT_EQ(failed.answer.status, Status::kMismatch);
  EXPECT_EQ(failed.answer.value, 7U);
  EXPECT_EQ(get(5).answer.value, 7U);
  EXPECT_EQ(get(6).answer.value, 0U);

  const wire::NodeStatus status = node_->status(kStart);
  EXPECT_EQ(status.node, 2);
  EXPECT_EQ(status.role, wire::Role::kLeader);
  EXPECT_EQ(status.leader, 2);
  EXPECT_EQ(status.run_token, 9U);
  EXPECT_EQ(status.operation_count, 4U);
  EXPECT_EQ(status.applied_index, 4U);
  EXPECT_EQ(status.checksum,
            2 * wire::mix_append(payload_) + 2 * wire::mix_compare_and_set(write, 7));
  EXPECT_EQ(counters_.applied, 4U);
  EXPECT_EQ(counters_.received, 6U);
  EXPECT_EQ(counters_.received_gets, 2U);
}

TEST_F(NodeTest, AKeySetBackToZeroIsZero) {
  make({});
  compare_and_set({.key = 1, .expected = 0, .desired = 3});
  compare_and_set({.key = 1, .expected = 3, .desired = 0});
  EXPECT_EQ(get(1).answer.value, 0U);
  EXPECT_EQ(compare_and_set({.key = 1, .expected = 0, .desired = 0}).answer.status, Status::kOk);
}

TEST_F(NodeTest, RefusedAndDroppedOperationsAreNotApplied) {
  make({.drop_every = 2, .error_every = 3, .busy_every = 5});
  for (const Action action : {Action::kServe, Action::kDrop, Action::kRefuse, Action::kDrop,
                              Action::kRefuse, Action::kDrop, Action::kServe}) {
    EXPECT_EQ(append().action, action);
  }
  EXPECT_EQ(node_->status(kStart).operation_count, 2U);
  EXPECT_EQ(counters_.dropped, 3U);
}

TEST_F(NodeTest, HeldAndClosedOperationsAreApplied) {
  make({.hold_every = 2, .apply_then_close_every = 3});
  for (const Action action : {Action::kServe, Action::kHold, Action::kClose, Action::kHold}) {
    EXPECT_EQ(append().action, action);
  }
  EXPECT_EQ(node_->status(kStart).operation_count, 4U);
  EXPECT_EQ(counters_.held, 2U);
  EXPECT_EQ(counters_.closed_without_answer, 1U);
}

TEST_F(NodeTest, AcknowledgedWithoutApplyLooksApplied) {
  make({.ack_without_apply_every = 1});
  EXPECT_EQ(append().answer.value, 1U);
  EXPECT_EQ(append().answer.value, 1U);
  const Decision write = compare_and_set({.key = 1, .expected = 0, .desired = 3});
  EXPECT_EQ(write.answer.status, Status::kOk);
  EXPECT_EQ(write.answer.value, 3U);
  EXPECT_EQ(get(1).answer.value, 0U);
  EXPECT_EQ(node_->status(kStart).operation_count, 0U);
  EXPECT_EQ(node_->status(kStart).checksum, 0U);
  EXPECT_EQ(counters_.acknowledged_without_apply, 3U);
}

TEST_F(NodeTest, AForcedMismatchCountsAndChangesNothing) {
  make({.mismatch_every = 2});
  const wire::CompareAndSet first{.key = 1, .expected = 0, .desired = 3};
  const wire::CompareAndSet second{.key = 1, .expected = 3, .desired = 4};
  EXPECT_EQ(compare_and_set(first).answer.status, Status::kOk);
  const Decision forced = compare_and_set(second);
  EXPECT_EQ(forced.answer.status, Status::kMismatch);
  EXPECT_EQ(forced.answer.value, 3U);
  EXPECT_EQ(node_->status(kStart).operation_count, 2U);
  EXPECT_EQ(node_->status(kStart).checksum,
            wire::mix_compare_and_set(first, 3) + wire::mix_compare_and_set(second, 3));
}

TEST_F(NodeTest, TransferChangesWhoIsSaidToLead) {
  make({});
  const std::uint64_t term = node_->status(kStart).term;
  EXPECT_EQ(transfer(2), Status::kOk);
  EXPECT_EQ(node_->status(kStart).role, wire::Role::kFollower);
  EXPECT_EQ(node_->status(kStart).leader, 2);
  EXPECT_EQ(node_->status(kStart).term, term + 1);
  const Decision redirected = append();
  EXPECT_EQ(redirected.action, Action::kRefuse);
  EXPECT_EQ(redirected.answer.status, Status::kNotLeader);
  EXPECT_EQ(redirected.answer.hint, 2);
  EXPECT_EQ(transfer(2), Status::kOk);
  EXPECT_EQ(node_->status(kStart).term, term + 1) << "to whom leads already is no change";
  EXPECT_EQ(transfer(-2), Status::kError);
  EXPECT_EQ(transfer(0), Status::kOk);
  EXPECT_EQ(append().action, Action::kServe);
}

TEST_F(NodeTest, WindowsCountFromTheFirstOperation) {
  make({.not_leader_windows = {{.at = 1s, .length = 1s}}, .not_leader_hint = 1});
  EXPECT_FALSE(node_->elapsed(kStart).has_value());
  EXPECT_EQ(append(kStart).action, Action::kServe);
  EXPECT_EQ(append(kStart + 1s).answer.hint, 1);
  EXPECT_EQ(node_->status(kStart + 1s).role, wire::Role::kFollower);
  EXPECT_EQ(node_->status(kStart + 1s).leader, 1);
  EXPECT_EQ(append(kStart + 2s).action, Action::kServe);
  EXPECT_EQ(node_->elapsed(kStart + 2s), 2s);
}

TEST_F(NodeTest, AnswersAreWrittenAndCountedByStatus) {
  make({.error_every = 2, .busy_every = 3});
  std::vector<std::byte> out;
  for (int i = 0; i < 6; ++i) {
    node_->write(append().answer, out);
  }
  EXPECT_EQ(counters_.answered, (std::array<std::uint64_t, 5>{2, 0, 0, 1, 3}));
  std::span<const std::byte> rest = out;
  for (std::uint64_t id = 1; id <= 6; ++id) {
    const wire::Parsed parsed = wire::parse_frame(rest);
    ASSERT_EQ(parsed.result, wire::ParseResult::kFrame) << parsed.reason;
    EXPECT_EQ(parsed.frame.correlation_id, id);
    rest = rest.subspan(parsed.frame_size);
  }
  EXPECT_TRUE(rest.empty());
}

}  // namespace
}  // namespace raftperf::stub
