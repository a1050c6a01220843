// SPDX-License-Identifier: Apache-2.0
//
// What becomes of operations.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "drivers/conformance_probe.h"

namespace raftperf::drivers::conformance {
namespace {

using load::OperationKind;
using load::Outcome;
using load::Reason;

void completes_each_once(Harness& harness, std::uint32_t count) {
  const DriverConfig config{.connections = 2, .in_flight_max = count};
  START_OR_SKIP(server, probe, Answer{}, config);
  for (int round = 0; round < 3; ++round) {
    probe.completions.clear();
    const auto operations = probe.operations(count);
    ASSERT_TRUE(probe.submit_all(operations));
    ASSERT_TRUE(probe.until_completed(count));
    probe.expect_each_once(operations);
    EXPECT_EQ(probe.reasons()[Reason::kOk], count);
  }
  probe.driver().poll();
  EXPECT_EQ(probe.completions.size(), count);
}
void completes_one(Harness& harness) { completes_each_once(harness, 1); }
void completes_a_hundred(Harness& harness) { completes_each_once(harness, 100); }
void completes_all_slots(Harness& harness) { completes_each_once(harness, 4096); }

void completes_compare_and_set(Harness& harness) {
  NEEDS(compare_and_set);
  const DriverConfig config{.operation = OperationKind::kCompareAndSet};
  START_OR_SKIP(server, probe, Answer{}, config);
  const auto operations = probe.operations(100);
  ASSERT_TRUE(probe.submit_all(operations));
  ASSERT_TRUE(probe.until_completed(100));
  probe.expect_each_once(operations);
  if (harness.features().scripted) {
    for (const Request& request : server->requests()) {
      EXPECT_EQ(request.value, operations.at(request.key).value);
    }
  }
}

void takes_answers_in_any_order(Harness& harness) {
  NEEDS(scripted);
  NEEDS(multiplexes);
  START_OR_SKIP(server, probe, std::nullopt, DriverConfig{});
  const auto operations = probe.operations(100);
  ASSERT_TRUE(probe.submit_all(operations));
  ASSERT_TRUE(probe.until([&] { return server->requests().size() == 100; }));
  EXPECT_TRUE(probe.completions.empty());
  auto requests = server->requests();
  std::reverse(requests.begin(), requests.end());
  std::rotate(requests.begin(), requests.begin() + 30, requests.end());
  server->answer(requests, Answer{});
  ASSERT_TRUE(probe.until_completed(100));
  probe.expect_each_once(operations);
}

void reports_mismatch_with_the_value(Harness& harness) {
  NEEDS(compare_and_set);
  const DriverConfig config{.operation = OperationKind::kCompareAndSet};
  const Answer answer{.kind = Answering::kMismatch, .value = 0xFEDCBA9876543210};
  START_OR_SKIP(server, probe, answer, config);
  ASSERT_TRUE(probe.submit_all(probe.operations(1)));
  ASSERT_TRUE(probe.until_completed(1));
  EXPECT_EQ(probe.completions[0].outcome, Outcome::kOk) << "it is committed";
  EXPECT_EQ(probe.completions[0].reason, Reason::kMismatch);
  if (harness.features().scripted) {
    EXPECT_EQ(probe.completions[0].value, answer.value);
  }
}

void expect_rejected(Harness& harness, const Answer& answer, Reason reason) {
  START_OR_SKIP(server, probe, answer, DriverConfig{});
  const auto operations = probe.operations(10);
  ASSERT_TRUE(probe.submit_all(operations));
  ASSERT_TRUE(probe.until_completed(10));
  probe.expect_each_once(operations);
  for (const load::Completion& completion : probe.completions) {
    EXPECT_EQ(completion.outcome, Outcome::kRejected);
    EXPECT_EQ(completion.reason, reason);
    EXPECT_EQ(completion.leader_hint, answer.hint);
  }
}
void reports_not_leader_with_a_hint(Harness& harness) {
  expect_rejected(harness, {.kind = Answering::kNotLeader, .hint = 1}, Reason::kNotLeader);
}
void reports_not_leader_without_a_hint(Harness& harness) {
  expect_rejected(harness, {.kind = Answering::kNotLeader}, Reason::kNotLeader);
}
void reports_busy(Harness& harness) {
  NEEDS(busy);
  expect_rejected(harness, {.kind = Answering::kBusy}, Reason::kBusy);
}
void reports_error(Harness& harness) {
  expect_rejected(harness, {.kind = Answering::kError}, Reason::kError);
}

// What the server does not read must end up with the rig, not in a queue without end.
void pushes_back(Harness& harness) {
  NEEDS(scripted);
  NEEDS(multiplexes);
  const DriverConfig config{.in_flight_max = 256, .value_size = 256 * 1024};
  START_OR_SKIP(server, probe, Answer{}, config);
  server->freeze(true);
  const auto operations = probe.operations(256);
  std::span<const load::Operation> rest = operations;
  // More than any kernel's buffers hold is offered; a while without progress is the end.
  for (int idle = 0; idle < 20 && !rest.empty(); ++idle) {
    const std::size_t taken = probe.submit(rest);
    rest = rest.subspan(taken);
    idle = taken > 0 ? 0 : idle;
    probe.poll_once();
  }
  EXPECT_FALSE(rest.empty()) << "64 MiB were taken by a server that reads nothing";
  EXPECT_TRUE(probe.completions.empty());
  server->freeze(false);
  ASSERT_TRUE(probe.submit_all(rest));
  ASSERT_TRUE(probe.until_completed(256));
  probe.expect_each_once(operations);
  const auto requests = server->requests();
  ASSERT_EQ(requests.size(), 256U);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(requests[i].value, operations[i].value) << "one lane, so in order";
  }
}

void counts_bytes_as_the_server_does(Harness& harness) {
  NEEDS(scripted);
  for (const std::uint32_t value_size : {1U, 64U, 1000U}) {
    const DriverConfig config{.value_size = value_size};
    START_OR_SKIP(server, probe, Answer{}, config);
    const auto operations = probe.operations(50);
    ASSERT_TRUE(probe.submit_all(operations));
    ASSERT_TRUE(probe.until_completed(50));
    std::uint64_t expected = 0;
    for (const load::Operation& operation : operations) {
      expected += probe.driver().request_bytes(operation);
    }
    EXPECT_EQ(server->bytes_received(), expected);
  }
}

void names_itself(Harness& harness) {
  START_OR_SKIP(server, probe, Answer{}, DriverConfig{});
  EXPECT_EQ(probe.driver().name(), harness.name());
}

void keeps_lanes_on_one_connection(Harness& harness) {
  NEEDS(scripted);
  NEEDS(multiplexes);
  const DriverConfig config{.connections = 3};
  START_OR_SKIP(server, probe, Answer{}, config);
  std::set<std::size_t> used;
  for (std::uint32_t lane = 0; lane < 6; ++lane) {
    const std::size_t before = server->requests().size();
    const auto operations = probe.operations(20, lane);
    ASSERT_TRUE(probe.submit_all(operations));
    ASSERT_TRUE(probe.until([&] { return server->requests().size() == before + 20; }));
    const auto requests = server->requests();
    used.insert(requests[before].connection);
    for (std::size_t i = 0; i < 20; ++i) {
      EXPECT_EQ(requests[before + i].connection, requests[before].connection);
      EXPECT_EQ(requests[before + i].value, operations[i].value) << "in order";
    }
  }
  EXPECT_EQ(used.size(), 3U) << "lanes spread over the connections";
}

void counts_its_transport(Harness& harness) {
  START_OR_SKIP(server, probe, Answer{}, DriverConfig{});
  const auto before = probe.driver().transport();
  EXPECT_EQ(before.connections_live, before.connections_asked);
  EXPECT_GE(before.connections_asked, 1U);
  EXPECT_EQ(before.frames_sent, 0U) << "greetings are not operations";
  ASSERT_TRUE(probe.submit_all(probe.operations(100)));
  ASSERT_TRUE(probe.until_completed(100));
  const auto after = probe.driver().transport();
  EXPECT_EQ(after.frames_sent, 100U);
  EXPECT_EQ(after.frames_received, 100U);
  EXPECT_GE(after.sends, 1U);
  EXPECT_GE(after.receives, 1U);
  EXPECT_EQ(after.protocol_errors, 0U);
  EXPECT_EQ(after.trouble, "");
  if (harness.features().multiplexes) {
    EXPECT_EQ(after.sends, 1U) << "what one submit puts on one connection leaves together";
  }
}

constexpr Case kCases[] = {
    {"completes_one", completes_one},
    {"completes_a_hundred", completes_a_hundred},
    {"completes_all_slots", completes_all_slots},
    {"completes_compare_and_set", completes_compare_and_set},
    {"takes_answers_in_any_order", takes_answers_in_any_order},
    {"reports_mismatch_with_the_value", reports_mismatch_with_the_value},
    {"reports_not_leader_with_a_hint", reports_not_leader_with_a_hint},
    {"reports_not_leader_without_a_hint", reports_not_leader_without_a_hint},
    {"reports_busy", reports_busy},
    {"reports_error", reports_error},
    {"pushes_back", pushes_back},
    {"counts_bytes_as_the_server_does", counts_bytes_as_the_server_does},
    {"names_itself", names_itself},
    {"keeps_lanes_on_one_connection", keeps_lanes_on_one_connection},
    {"counts_its_transport", counts_its_transport},
};

}  // namespace

std::span<const Case> operation_cases() { return kCases; }

}  // namespace raftperf::drivers::conformance
