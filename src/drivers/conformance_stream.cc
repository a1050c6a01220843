// SPDX-License-Identifier: Apache-2.0
//
// Answers in odd pieces, twice, too late, or wrong; and how one waits for them.
#include <poll.h>

#include "drivers/conformance_probe.h"

namespace raftperf::drivers::conformance {
namespace {

using load::Reason;

bool readable(int fd, int timeout_ms) {
  pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&waiting, 1, timeout_ms) == 1;
}

Bytes encode_all(Server& server, std::span<const Request> requests) {
  Bytes all;
  for (const Request& request : requests) {
    const Bytes one = server.encode(request, Answer{});
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

void takes_an_answer_byte_by_byte(Harness& harness) {
  NEEDS(raw_bytes);
  START_OR_SKIP(server, probe, std::nullopt, DriverConfig{});
  const auto operations = probe.operations(2);
  for (const load::Operation& operation : operations) {
    const std::size_t before = probe.completions.size();
    ASSERT_TRUE(probe.submit_all({&operation, 1}));
    ASSERT_TRUE(probe.until([&] { return server->requests().size() == before + 1; }));
    const Bytes bytes = server->encode(server->requests().back(), Answer{});
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      EXPECT_EQ(probe.completions.size(), before) << "completed before byte " << i;
      const std::uint64_t receives = probe.driver().transport().receives;
      server->send(0, std::span(bytes).subspan(i, 1));
      ASSERT_TRUE(probe.until([&] { return probe.driver().transport().receives > receives; }));
    }
    ASSERT_TRUE(probe.until_completed(before + 1));
  }
  probe.expect_each_once(operations);
}

void takes_many_answers_at_once_and_torn(Harness& harness) {
  NEEDS(raw_bytes);
  NEEDS(multiplexes);
  START_OR_SKIP(server, probe, std::nullopt, DriverConfig{});
  const auto operations = probe.operations(100);
  ASSERT_TRUE(probe.submit_all(operations));
  ASSERT_TRUE(probe.until([&] { return server->requests().size() == 100; }));
  const Bytes bytes = encode_all(*server, server->requests());
  const std::size_t torn = bytes.size() - bytes.size() / 100 / 2;  // within the last answer
  server->send(0, std::span(bytes).first(torn));
  ASSERT_TRUE(probe.until_completed(99));
  probe.driver().poll();
  EXPECT_EQ(probe.completions.size(), 99U);
  server->send(0, std::span(bytes).subspan(torn));
  ASSERT_TRUE(probe.until_completed(100));
  probe.expect_each_once(operations);
}

// The rig took the slot back at a deadline and uses it again: both answers come.
void passes_on_the_answer_to_an_operation_that_is_over(Harness& harness) {
  NEEDS(scripted);
  NEEDS(multiplexes);
  START_OR_SKIP(server, probe, std::nullopt, DriverConfig{});
  const auto old_one = probe.operations(1);
  const auto new_one = probe.operations(1);
  ASSERT_TRUE(probe.submit_all(old_one));
  ASSERT_TRUE(probe.submit_all(new_one));
  ASSERT_TRUE(probe.until([&] { return server->requests().size() == 2; }));
  server->answer(server->requests(), Answer{});
  ASSERT_TRUE(probe.until_completed(2));
  EXPECT_EQ(probe.completions[0].id, old_one[0].id);
  EXPECT_EQ(probe.completions[1].id, new_one[0].id);
  // Both are over, so the loss of the connection completes neither again.
  server->drop_connections(1);
  ASSERT_TRUE(probe.until_link(0, Probe::Link::kDown));
  EXPECT_EQ(probe.completions.size(), 2U);
}

void passes_on_a_duplicated_answer(Harness& harness) {
  NEEDS(scripted);
  NEEDS(multiplexes);
  START_OR_SKIP(server, probe, std::nullopt, DriverConfig{});
  const auto operations = probe.operations(2);
  ASSERT_TRUE(probe.submit_all(operations));
  ASSERT_TRUE(probe.until([&] { return server->requests().size() == 2; }));
  const auto requests = server->requests();
  server->answer({requests.data(), 1}, Answer{});
  server->answer(requests, Answer{});
  ASSERT_TRUE(probe.until_completed(3));
  EXPECT_EQ(probe.completions[0].id, operations[0].id);
  EXPECT_EQ(probe.completions[1].id, operations[0].id);
  EXPECT_EQ(probe.completions[2].id, operations[1].id);
  EXPECT_EQ(probe.driver().transport().protocol_errors, 0U);
}

void closes_only_the_connection_of_a_malformed_answer(Harness& harness) {
  NEEDS(raw_bytes);
  const DriverConfig config{.connections = 2};
  START_OR_SKIP(server, probe, std::nullopt, config);
  const auto operations = probe.operations(2);
  auto moved = operations[1];
  moved.lane = 1;
  ASSERT_TRUE(probe.submit_all({&operations[0], 1}));
  ASSERT_TRUE(probe.submit_all({&moved, 1}));
  ASSERT_TRUE(probe.until([&] { return server->requests().size() == 2; }));
  const auto requests = server->requests();
  ASSERT_NE(requests[0].connection, requests[1].connection);
  const Request& broken = requests[0].value == operations[0].value ? requests[0] : requests[1];
  const Request& whole = requests[0].value == operations[0].value ? requests[1] : requests[0];
  const std::size_t links = probe.links.size();
  server->send(broken.connection, server->malformed(broken));
  ASSERT_TRUE(probe.until_completed(1));
  EXPECT_EQ(probe.completions[0].id, operations[0].id);
  EXPECT_EQ(probe.completions[0].outcome, load::Outcome::kUnknown);
  EXPECT_EQ(probe.completions[0].reason, Reason::kLost);
  ASSERT_TRUE(probe.until_link(0, Probe::Link::kDegraded, links));
  EXPECT_EQ(probe.driver().transport().protocol_errors, 1U);
  EXPECT_EQ(probe.driver().transport().connections_live, 1U);
  EXPECT_NE(probe.driver().transport().trouble, "");
  server->answer({&whole, 1}, Answer{});
  ASSERT_TRUE(probe.until_completed(2));
  EXPECT_EQ(probe.completions[1].reason, Reason::kOk);
  ASSERT_TRUE(probe.until([&] { return server->connections() == 1; })) << "it was closed";
}

void waits_by_its_descriptor(Harness& harness) {
  NEEDS(scripted);
  const DriverConfig config{.connections = 2};
  START_OR_SKIP(server, probe, std::nullopt, config);
  const int fd = probe.driver().wait_descriptor();
  if (fd < 0) {
    GTEST_SKIP() << "the driver has no descriptor";
  }
  for (int round = 0; round < 3; ++round) {
    const auto before = static_cast<std::size_t>(round);
    ASSERT_TRUE(probe.submit_all(probe.operations(1)));
    ASSERT_TRUE(probe.until([&] { return server->requests().size() == before + 1; }));
    EXPECT_FALSE(readable(fd, 0)) << "nothing is there, so blocking would spin";
    EXPECT_FALSE(readable(fd, 20));
    server->answer({&server->requests().back(), 1}, Answer{});
    EXPECT_TRUE(readable(fd, 20'000)) << "an answer is there";
    EXPECT_TRUE(readable(fd, 0)) << "to ask takes nothing away";
    ASSERT_TRUE(probe.until_completed(before + 1));
    EXPECT_FALSE(readable(fd, 0)) << "the answer was taken";
  }
  server->drop_connections(2);
  EXPECT_TRUE(readable(fd, 20'000)) << "a lost connection is there";
  ASSERT_TRUE(probe.until_link(0, Probe::Link::kDown));
  EXPECT_FALSE(readable(fd, 20)) << "a lost connection is told once";
}

constexpr Case kCases[] = {
    {"takes_an_answer_byte_by_byte", takes_an_answer_byte_by_byte},
    {"takes_many_answers_at_once_and_torn", takes_many_answers_at_once_and_torn},
    {"passes_on_the_answer_to_an_operation_that_is_over",
     passes_on_the_answer_to_an_operation_that_is_over},
    {"passes_on_a_duplicated_answer", passes_on_a_duplicated_answer},
    {"closes_only_the_connection_of_a_malformed_answer",
     closes_only_the_connection_of_a_malformed_answer},
    {"waits_by_its_descriptor", waits_by_its_descriptor},
};

}  // namespace

std::span<const Case> stream_cases() { return kCases; }

}  // namespace raftperf::drivers::conformance
