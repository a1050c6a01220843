// SPDX-License-Identifier: Apache-2.0
//
// A node for the tests of src/cluster: speaks the wire protocol, commits nothing, and
// misbehaves on request. Nodes agree on a leader by a file beside their data.
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "net/endpoint.h"
#include "net/socket.h"
#include "wire/cpp/reply.h"
#include "wire/cpp/server_session.h"

namespace {

using raftperf::FileDescriptor;
namespace wire = raftperf::wire;
namespace net = raftperf::net;

struct Options {
  std::map<std::string, std::string> values;

  [[nodiscard]] const std::string& at(const std::string& name) const { return values.at(name); }
  [[nodiscard]] int node() const { return std::stoi(at("--node")); }
  [[nodiscard]] std::uint64_t token() const { return std::stoull(at("--run-token")); }

  /// `--bad exit@1` is a fault of node 1, `--bad exit` one of every node.
  [[nodiscard]] bool bad(const std::string& fault) const {
    return at("--bad") == fault || at("--bad") == fmt::format("{}@{}", fault, node());
  }
};

struct Connection {
  FileDescriptor fd;
  wire::ServerSession session;
  std::vector<std::byte> received;
};

class Server {
 public:
  Server(const Options& options, FileDescriptor listener)
      : options_(options), listener_(std::move(listener)) {}

  [[noreturn]] void run() {
    while (true) {
      std::vector<pollfd> waiting{{.fd = listener_.get(), .events = POLLIN, .revents = 0}};
      for (const Connection& connection : connections_) {
        waiting.push_back({.fd = connection.fd.get(), .events = POLLIN, .revents = 0});
      }
      (void)::poll(waiting.data(), waiting.size(), -1);
      std::erase_if(connections_, [&](Connection& connection) { return !serve(connection); });
      accept_all();
    }
  }

 private:
  wire::NodeStatus status() const {
    int leader = 0;
    std::uint64_t term = 1;
    std::ifstream(options_.at("--leader-file")) >> leader >> term;
    wire::NodeStatus status;
    status.node = options_.node();
    status.leader = leader;
    status.term = term;
    status.role = leader == options_.node() ? wire::Role::kLeader : wire::Role::kFollower;
    status.operation_count = operations_;
    status.run_token = options_.token() + (options_.bad("wrong-hello") ? 1 : 0);
    return status;
  }

  void answer(const wire::Frame& frame, std::vector<std::byte>& out) {
    const wire::NodeStatus now = status();
    if (frame.kind == wire::Kind::kStatus) {
      wire::append_node_status(out, frame.correlation_id, now);
    } else if (options_.bad("busy")) {
      wire::append_busy(out, wire::reply_to(frame));
    } else if (now.role != wire::Role::kLeader) {
      wire::append_not_leader(out, wire::reply_to(frame), now.leader);
    } else if (frame.kind == wire::Kind::kTransferLeader) {
      const int to = wire::load<std::int32_t>(frame.body.data());
      const std::string file = options_.at("--leader-file");
      std::ofstream(file + ".new") << to << " " << now.term + 1 << "\n";
      ::rename((file + ".new").c_str(), file.c_str());
      wire::append_done(out, wire::reply_to(frame));
    } else {
      wire::append_value(out, wire::reply_to(frame), ++operations_);
    }
  }

  bool serve(Connection& connection) {
    std::byte buffer[4096];
    const ssize_t got = ::recv(connection.fd.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0) {
      return true;
    }
    if (got == 0) {
      return false;
    }
    connection.received.insert(connection.received.end(), buffer, buffer + got);
    std::vector<std::byte> out;
    const auto done = connection.session.consume(
        connection.received, out, [&](const wire::Frame& frame) { answer(frame, out); });
    connection.received.erase(connection.received.begin(),
                              connection.received.begin() + static_cast<long>(done.bytes));
    (void)::send(connection.fd.get(), out.data(), out.size(), MSG_NOSIGNAL);
    return !done.close;
  }

  void accept_all() {
    while (true) {
      FileDescriptor fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!fd.valid()) {
        return;
      }
      if (options_.bad("exit-late")) {
        fmt::print(stderr, "leaving at the first connection\n");
        ::_exit(4);
      }
      wire::HelloReply hello;
      hello.node = options_.node();
      hello.run_token = status().run_token;
      connections_.push_back(Connection{std::move(fd), wire::ServerSession(hello), {}});
    }
  }

  const Options& options_;
  FileDescriptor listener_;
  std::vector<Connection> connections_;
  std::uint64_t operations_ = 0;
};

void misbehave_early(const Options& options) {
  if (options.bad("exit")) {
    fmt::print(stderr, "cannot open the log: no such luck\n");
    ::_exit(3);
  }
  if (options.bad("crash")) {
    ::raise(SIGKILL);
  }
  if (options.bad("ignore-term")) {
    ::signal(SIGTERM, SIG_IGN);
  }
  if (options.bad("grandchild") && ::fork() == 0) {
    ::signal(SIGTERM, SIG_IGN);
    while (true) {
      ::pause();
    }
  }
  if (options.bad("mute")) {
    while (true) {
      ::pause();
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    options.values[argv[i]] = argv[i + 1];
  }
  misbehave_early(options);
  const auto listen = net::parse_endpoint(options.at("--listen"));
  auto listener = net::listen_on(listen->host, listen->port);
  if (!listener) {
    fmt::print(stderr, "{}\n", listener.error());
    return 1;
  }
  if (options.at("--pid-file") != "-") {
    std::ofstream(options.at("--pid-file")) << ::getpid() << "\n";
  }
  fmt::print("some banner\n{{\"event\":\"ready\",\"node\":{},\"run_token\":{}}}\n", options.node(),
             options.token() + (options.bad("wrong-token") ? 1 : 0));
  std::fflush(stdout);
  Server(options, *std::move(listener)).run();
}
