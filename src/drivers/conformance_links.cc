// SPDX-License-Identifier: Apache-2.0
//
// Connections that are lost, come back, or never come.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "drivers/conformance_probe.h"
#include "net/socket.h"

namespace raftperf::drivers::conformance {
namespace {

using load::Outcome;
using load::Reason;
using Link = Probe::Link;

void completes_what_was_lost_and_connects_again(Harness& harness) {
  NEEDS(scripted);
  const DriverConfig config{.connections = 2};
  START_OR_SKIP(server, probe, std::nullopt, config);
  std::vector<load::Operation> operations = probe.operations(10);
  for (load::Operation& operation : operations) {
    operation.lane = operation.id.slot();
  }
  ASSERT_TRUE(probe.submit_all(operations));
  ASSERT_TRUE(probe.until([&] { return server->requests().size() == 10; }));
  const std::size_t links = probe.links.size();
  server->drop_connections(2);
  ASSERT_TRUE(probe.until_completed(10));
  ASSERT_TRUE(probe.until_link(0, Link::kDown, links));
  probe.expect_each_once(operations);
  for (const load::Completion& completion : probe.completions) {
    EXPECT_EQ(completion.outcome, Outcome::kUnknown);
    EXPECT_EQ(completion.reason, Reason::kLost);
  }
  EXPECT_EQ(probe.driver().transport().connections_live, 0U);
  EXPECT_EQ(probe.submit(probe.operations(1)), 0U) << "there is nobody to take it";

  server->answer_all(Answer{});
  const std::size_t reports = probe.links.size();
  probe.driver().reconnect(0);
  EXPECT_EQ(probe.links.size(), reports) << "the outcome is for a later poll";
  ASSERT_TRUE(probe.until_link(0, Link::kUp, reports));
  probe.completions.clear();
  const auto later = probe.operations(10);
  ASSERT_TRUE(probe.submit_all(later));
  ASSERT_TRUE(probe.until_completed(10));
  probe.expect_each_once(later);
  EXPECT_EQ(probe.reasons()[Reason::kOk], 10U);
  EXPECT_EQ(probe.driver().transport().trouble, "");
}

void goes_on_with_what_connections_remain(Harness& harness) {
  NEEDS(scripted);
  const DriverConfig config{.connections = 3};
  START_OR_SKIP(server, probe, Answer{}, config);
  const std::size_t links = probe.links.size();
  server->drop_connections(1);
  ASSERT_TRUE(probe.until_link(0, Link::kDegraded, links));
  EXPECT_EQ(probe.driver().transport().connections_live, 2U);
  for (std::uint32_t lane = 0; lane < 3; ++lane) {
    probe.completions.clear();
    ASSERT_TRUE(probe.submit_all(probe.operations(10, lane)));
    ASSERT_TRUE(probe.until_completed(10));
    EXPECT_EQ(probe.reasons()[Reason::kOk], 10U);
  }
  probe.driver().reconnect(0);
  ASSERT_TRUE(probe.until_link(0, Link::kUp, links));
  EXPECT_EQ(probe.driver().transport().connections_live, 3U);
}

void reports_each_attempt_that_fails(Harness& harness) {
  NEEDS(scripted);
  const DriverConfig config{.connections = 2};
  START_OR_SKIP(server, probe, Answer{}, config);
  server->listen(false);
  server->drop_connections(2);
  ASSERT_TRUE(probe.until_link(0, Link::kDown));
  for (int attempt = 0; attempt < 3; ++attempt) {
    const std::size_t reports = probe.links.size();
    probe.driver().reconnect(0);
    ASSERT_TRUE(probe.until_link(0, Link::kDown, reports));
    EXPECT_EQ(probe.links.size(), reports + 1) << "once, however many connections there are";
  }
  server->listen(true);
  const std::size_t reports = probe.links.size();
  probe.driver().reconnect(0);
  ASSERT_TRUE(probe.until_link(0, Link::kUp, reports));
}

/// An endpoint that nobody listens on.
net::Endpoint refusing() {
  const auto listener = net::listen_on("127.0.0.1", 0);
  return {.host = "127.0.0.1", .port = net::bound_port(listener->get())};
}

void connects_without_an_unreachable_node(Harness& harness) {
  NEEDS(network);
  const auto server = harness.start_server(Answer{}, "127.0.0.1", 1);
  Probe probe(harness);
  const auto connected =
      probe.connect({.nodes = {refusing(), server->endpoint()}, .in_flight_max = 16});
  ASSERT_TRUE(connected.ok()) << connected.error();
  ASSERT_TRUE(probe.until_link(0, Link::kDown));
  const auto stats = probe.driver().transport();
  EXPECT_EQ(stats.connections_asked, 2U);
  EXPECT_EQ(stats.connections_live, 1U);
  EXPECT_NE(stats.trouble, "");
  EXPECT_EQ(stats.trouble.find('\n'), std::string::npos);
  auto operations = probe.operations(10);
  for (load::Operation& operation : operations) {
    operation.node = 1;
  }
  ASSERT_TRUE(probe.submit_all(operations));
  ASSERT_TRUE(probe.until_completed(10));
  operations[0].node = 0;
  EXPECT_EQ(probe.submit({operations.data(), 1}), 0U);
}

void expect_one_line(const Result<void>& connected, const std::string& part) {
  ASSERT_FALSE(connected.ok());
  EXPECT_EQ(connected.error().find('\n'), std::string::npos);
  EXPECT_NE(connected.error().find(part), std::string::npos) << connected.error();
}

void fails_with_one_line_if_no_node_answers(Harness& harness) {
  NEEDS(network);
  const net::Endpoint first = refusing();
  Probe probe(harness);
  expect_one_line(probe.connect({.nodes = {first, refusing()}}), to_string(first));
}

/// A listener whose backlog is full, so that the kernel answers nothing at all; and one
/// that accepts and never speaks.
void gives_up_on_a_black_hole(Harness& harness, bool full) {
  NEEDS(network);
  const FileDescriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_storage address{};
  address.ss_family = AF_INET;
  // Port 0 of every address; a backlog of 0 holds one connection.
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), 16), 0);
  ASSERT_EQ(::listen(listener.get(), full ? 0 : 16), 0);
  const net::Endpoint endpoint{.host = "127.0.0.1", .port = net::bound_port(listener.get())};
  std::vector<FileDescriptor> fillers;
  const auto resolved = net::resolve(endpoint);
  for (int i = 0; full && i < 3; ++i) {
    fillers.push_back(*net::start_connect(resolved->front()));
  }
  const auto server = harness.start_server(Answer{}, "127.0.0.1", 1);
  Probe probe(harness);
  const auto start = std::chrono::steady_clock::now();
  const auto connected = probe.connect({.nodes = {endpoint, server->endpoint()},
                                        .in_flight_max = 16,
                                        .connect_timeout = std::chrono::milliseconds{300}});
  const auto took = std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(connected.ok()) << connected.error();
  EXPECT_GE(took, std::chrono::milliseconds{300});
  EXPECT_LT(took, std::chrono::seconds{15});
  ASSERT_TRUE(probe.until_link(0, Link::kDown));
  const std::size_t reports = probe.links.size();
  probe.driver().reconnect(0);
  ASSERT_TRUE(probe.until_link(0, Link::kDown, reports)) << "in a later poll, without blocking";
}
void gives_up_on_a_full_backlog(Harness& harness) { gives_up_on_a_black_hole(harness, true); }
void gives_up_on_a_mute_listener(Harness& harness) {
  NEEDS(greets);
  gives_up_on_a_black_hole(harness, false);
}

/// In a child with few descriptors: exit status 0 if the driver says what it has.
int connect_with_few_descriptors(Harness& harness, const net::Endpoint& endpoint) {
  const int lowest_free = ::dup(STDIN_FILENO);
  const rlimit limit{.rlim_cur = static_cast<rlim_t>(lowest_free) + 20,
                     .rlim_max = static_cast<rlim_t>(lowest_free) + 20};
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return 2;
  }
  Probe probe(harness);
  const auto connected =
      probe.connect({.nodes = {endpoint}, .connections = 40, .in_flight_max = 64});
  if (!connected) {
    return 3;
  }
  const auto stats = probe.driver().transport();
  const bool says = stats.connections_asked == 40 && stats.connections_live > 0 &&
                    stats.connections_live < 40 &&
                    stats.trouble.find("ulimit") != std::string::npos;
  return says ? 0 : 4;
}

void says_how_many_connections_it_has(Harness& harness) {
  NEEDS(network);
#ifdef __SANITIZE_ADDRESS__
  // UBSan's check of a virtual call opens a pipe to see whether memory can be read, and
  // takes the missing descriptor for a bad object.
  GTEST_SKIP() << "the sanitizer itself needs descriptors; the other builds run it";
#endif
  const auto server = harness.start_server(Answer{}, "127.0.0.1", 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::_exit(connect_with_few_descriptors(harness, server->endpoint()));
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

constexpr Case kCases[] = {
    {"completes_what_was_lost_and_connects_again", completes_what_was_lost_and_connects_again},
    {"goes_on_with_what_connections_remain", goes_on_with_what_connections_remain},
    {"reports_each_attempt_that_fails", reports_each_attempt_that_fails},
    {"connects_without_an_unreachable_node", connects_without_an_unreachable_node},
    {"fails_with_one_line_if_no_node_answers", fails_with_one_line_if_no_node_answers},
    {"gives_up_on_a_full_backlog", gives_up_on_a_full_backlog},
    {"gives_up_on_a_mute_listener", gives_up_on_a_mute_listener},
    {"says_how_many_connections_it_has", says_how_many_connections_it_has},
};

void expect_reached(Harness& harness, const std::string& listen, const std::string& host) {
  const auto server = harness.start_server(Answer{}, listen, 0);
  if (server == nullptr) {
    GTEST_SKIP() << "this machine cannot listen on " << listen;
  }
  Probe probe(harness);
  const auto connected = probe.connect({.nodes = {{.host = host, .port = server->endpoint().port}},
                                        .connections = 3,
                                        .in_flight_max = 16});
  ASSERT_TRUE(connected.ok()) << connected.error();
  EXPECT_EQ(probe.driver().transport().connections_live, 3U) << probe.driver().transport().trouble;
  ASSERT_TRUE(probe.submit_all(probe.operations(10)));
  ASSERT_TRUE(probe.until_completed(10));
}
void reaches_an_ipv6_address(Harness& harness) {
  NEEDS(network);
  expect_reached(harness, "::1", "::1");
}
void reaches_localhost_on_ipv4_only(Harness& harness) {
  NEEDS(network);
  expect_reached(harness, "127.0.0.1", "localhost");
}
void reaches_localhost_on_ipv6_only(Harness& harness) {
  NEEDS(network);
  const auto addresses = net::resolve({.host = "localhost", .port = 1});
  if (!addresses || std::none_of(addresses->begin(), addresses->end(), [](const auto& address) {
        return address.storage.ss_family == AF_INET6;
      })) {
    GTEST_SKIP() << "localhost has no IPv6 address on this machine";
  }
  expect_reached(harness, "::1", "localhost");
}
void says_which_host_is_unknown(Harness& harness) {
  NEEDS(network);
  Probe probe(harness);
  expect_one_line(probe.connect({.nodes = {{.host = "no-such-host.invalid", .port = 1}}}),
                  "no-such-host.invalid");
}

constexpr Case kAddressCases[] = {
    {"reaches_an_ipv6_address", reaches_an_ipv6_address},
    {"reaches_localhost_on_ipv4_only", reaches_localhost_on_ipv4_only},
    {"reaches_localhost_on_ipv6_only", reaches_localhost_on_ipv6_only},
    {"says_which_host_is_unknown", says_which_host_is_unknown},
};

}  // namespace

std::span<const Case> link_cases() { return kCases; }
std::span<const Case> address_cases() { return kAddressCases; }

}  // namespace raftperf::drivers::conformance
