// SPDX-License-Identifier: Apache-2.0
//
// What the wire protocol has beside the contract that the conformance suite holds.
#include "drivers/wire/wire_driver.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>

#include "drivers/conformance_probe.h"
#include "drivers/scripted_server.h"
#include "drivers/wire/wire_peer.h"
#include "wire/cpp/reply.h"

namespace raftperf::drivers {
namespace {

using conformance::Answer;
using conformance::Answering;
using conformance::Bytes;
using conformance::Probe;
using conformance::ScriptedServer;

void expect_refused(const DriverConfig& config, const std::string& part) {
  const auto driver = WireDriver::create(config);
  ASSERT_FALSE(driver.ok());
  EXPECT_NE(driver.error().find(part), std::string::npos) << driver.error();
}

TEST(WireDriver, RefusesWhatItCannotDo) {
  const std::vector<net::Endpoint> nodes{{.host = "127.0.0.1", .port = 1}};
  expect_refused({.nodes = nodes, .operation = load::OperationKind::kEcho}, "echo");
  expect_refused({.nodes = nodes, .value_size = 0}, "value size 0");
  expect_refused({.nodes = nodes, .value_size = (1U << 20U) + 1}, "1048577");
  expect_refused({.nodes = nodes, .settings = {{"color", "red"}}}, "'color'");
  expect_refused({.nodes = {}}, "address");
  expect_refused({.nodes = nodes, .connections = 0}, "connections 0");
}

/// Answers the greeting with these bytes, and nothing else.
class GreetingCodec final : public conformance::Codec {
 public:
  explicit GreetingCodec(Bytes greeting) : greeting_(std::move(greeting)) {}
  Parsed parse(std::span<const std::byte> input, Bytes& out) override {
    if (!input.empty()) {
      out.insert(out.end(), greeting_.begin(), greeting_.end());
    }
    return {.size = input.size(), .request = {}};
  }
  void encode(const conformance::Request&, const Answer&, Bytes&) override {}
  Bytes malformed(const conformance::Request&) override { return {}; }

 private:
  Bytes greeting_;
};

/// Connects to a server that greets so; the error, or "" if it connected.
std::string greeted_with(const Bytes& greeting) {
  const auto server = ScriptedServer::start(
      "127.0.0.1", std::nullopt, [&] { return std::make_unique<GreetingCodec>(greeting); });
  const auto harness = make_wire_harness();
  Probe probe(*harness);
  const auto connected =
      probe.connect({.nodes = {server->endpoint()}, .in_flight_max = 1, .value_size = 100});
  return connected.ok() ? "" : connected.error();
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(WireDriver, TakesOnlyAGreetingItUnderstands) {
  Bytes bytes;
  wire::append_hello(bytes, 0, {});
  EXPECT_EQ(greeted_with(bytes), "");
  bytes.clear();
  wire::append_hello(bytes, 0, {.version = 2});
  expect_part(greeted_with(bytes), "version 2");
  bytes.clear();
  wire::append_hello(bytes, 0, {.body_length_max = 99});
  expect_part(greeted_with(bytes), "at most 99 bytes, not of 100");
  bytes.clear();
  wire::append_error(bytes, {.kind = wire::Kind::kHello}, "speak version 7");
  expect_part(greeted_with(bytes), "speak version 7");
  bytes.clear();
  wire::append_value(bytes, {.kind = wire::Kind::kAppend}, 1);
  expect_part(greeted_with(bytes), "not to hello");
  expect_part(greeted_with(Bytes(64, std::byte{0xFF})), "body length");
}

Bytes request_frame(std::uint32_t body_length) {
  Bytes bytes(wire::kHeaderSize + body_length);
  wire::put_request_header(bytes.data(), wire::Kind::kAppend, 0, body_length);
  return bytes;
}

/// A ready connection receives this: it must be closed, and counted.
void expect_breaks_protocol(const Bytes& bytes) {
  const auto harness = make_wire_harness();
  const auto server = harness->start_server(std::nullopt, "127.0.0.1", 0);
  Probe probe(*harness);
  ASSERT_TRUE(probe.connect_to(*server));
  server->send(0, bytes);
  ASSERT_TRUE(probe.until_link(0, Probe::Link::kDown));
  EXPECT_EQ(probe.driver().transport().protocol_errors, 1U);
  EXPECT_TRUE(probe.completions.empty());
}

TEST(WireDriver, ClosesAtAReplyThatNobodyAskedFor) {
  Bytes bytes;
  wire::append_done(bytes, {.kind = wire::Kind::kTransferLeader});  // ok, with an empty body
  expect_breaks_protocol(bytes);
  bytes.clear();
  wire::append_hello(bytes, 0, {});
  expect_breaks_protocol(bytes);
  bytes.clear();
  wire::append_value(bytes, {.kind = wire::Kind::kGet}, 1);
  expect_breaks_protocol(bytes);
  bytes.clear();
  wire::append_node_status(bytes, 0, {});
  expect_breaks_protocol(bytes);
  expect_breaks_protocol(request_frame(8));
  // Longer than a reply can be, and still on its way.
  Bytes begun = request_frame(wire::kBodyLengthMax);
  begun.resize(5000);
  expect_breaks_protocol(begun);
}

TEST(WireDriver, MapsHintsToTheNodesItWasGiven) {
  const auto harness = make_wire_harness();
  // Of a cluster of three the nodes 2 and 0, in this order.
  const Answer answer{.kind = Answering::kNotLeader, .hint = 2};
  const auto two = harness->start_server(answer, "127.0.0.1", 2);
  const auto zero = harness->start_server(answer, "127.0.0.1", 0);
  Probe probe(*harness);
  const auto connected =
      probe.connect({.nodes = {two->endpoint(), zero->endpoint()}, .in_flight_max = 4});
  ASSERT_TRUE(connected.ok()) << connected.error();
  ASSERT_TRUE(probe.submit_all(probe.operations(1)));
  ASSERT_TRUE(probe.until_completed(1));
  EXPECT_EQ(probe.completions[0].leader_hint, 0);
}

/// In a child of its own: gives a host name two addresses and connects to it. 77: this
/// machine does not let us.
int connect_to_name(const std::filesystem::path& hosts, std::uint16_t port) {
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 ||
      ::mount(hosts.c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr) != 0) {
    return 77;
  }
  const auto harness = make_wire_harness();
  Probe probe(*harness);
  const auto connected = probe.connect(
      {.nodes = {{.host = "twofold.test", .port = port}}, .connections = 5, .in_flight_max = 16});
  if (!connected) {
    return 1;
  }
  if (probe.driver().transport().connections_live != 5) {
    return 2;
  }
  const auto operations = probe.operations(10);
  return probe.submit_all(operations) && probe.until_completed(10) ? 0 : 3;
}

void expect_reached_by_name(const std::string& listen, const std::string& hosts_text) {
  const auto harness = make_wire_harness();
  const auto server = harness->start_server(Answer{}, listen, 0);
  ASSERT_NE(server, nullptr);
  std::string name = std::filesystem::temp_directory_path() / "raftperf-hosts-XXXXXX";
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const auto hosts = std::filesystem::path(name) / "hosts";
  std::ofstream(hosts) << hosts_text;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::_exit(connect_to_name(hosts, server->endpoint().port));
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  std::filesystem::remove_all(name);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) {
    GTEST_SKIP() << "no mount namespace on this machine";
  }
  EXPECT_EQ(WEXITSTATUS(status), 0) << "listening on " << listen;
}

TEST(WireDriver, TriesEveryAddressOfAName) {
  const std::string hosts = "127.0.0.1 twofold.test\n::1 twofold.test\n127.0.0.2 twofold.test\n";
  for (const std::string listen : {"127.0.0.1", "127.0.0.2", "::1"}) {
    expect_reached_by_name(listen, hosts);
  }
}

}  // namespace
}  // namespace raftperf::drivers
