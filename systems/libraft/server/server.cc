// SPDX-License-Identifier: Apache-2.0
#include "systems/libraft/server/server.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "base/check.h"
#include "net/endpoint.h"
#include "wire/cpp/reply.h"

namespace raftperf::libraft {
namespace {

constexpr std::uint64_t kCloseTimeoutMs = 5000;
// After its last answer a client has this long to close. Closing before it has read
// would reset the connection, and with it answers under way.
constexpr std::uint64_t kLingerMs = 300;

Connection::Settings connection_settings(const Options& options) {
  Connection::Settings settings;
  settings.identity.node = options.node;
  settings.identity.run_token = options.run_token;
  settings.output_max = options.output_max;
  return settings;
}

Proposals::Limits proposal_limits(const Options& options) {
  Proposals::Limits limits;
  limits.pending_max = options.pending_max;
  limits.batch_max = options.batch_max;
  return limits;
}

Server& server_of(void* data) noexcept { return *static_cast<Server*>(data); }

template <typename Handle>
uv_handle_t* generic(Handle& handle) noexcept {
  return reinterpret_cast<uv_handle_t*>(&handle);
}

}  // namespace

Server::Server(uv_loop_t* loop, const Options& options, const DataDirectory& directory,
               const Events& events)
    : loop_(loop),
      options_(options),
      directory_(directory),
      events_(events),
      node_(loop, options, events, static_cast<RaftNode::Owner&>(*this)),
      clients_(loop, connection_settings(options), events, static_cast<Clients::Owner&>(*this)),
      proposals_(proposal_limits(options),
                 {.server = options.node, .incarnation = options.incarnation},
                 static_cast<Answers&>(*this)) {}

Server::~Server() { CHECK(stage_ == Stage::kClosed); }

int Server::run() {
  install_handles();
  if (auto started = start(); !started) {
    fmt::print(stderr, "raftperf-libraft-server: {}\n", started.error());
    exit_status_ = 1;
    begin_close();
  } else {
    say_ready();
  }
  (void)uv_run(loop_, UV_RUN_DEFAULT);
  return exit_status_;
}

Result<void> Server::start() {
  // First the client's port: a node whose clients cannot reach it should not vote.
  if (auto listening = clients_.listen(options_.listen); !listening) {
    return listening;
  }
  return node_.start(directory_);
}

void Server::say_ready() const {
  const net::Endpoint client{.host = options_.listen.host, .port = clients_.port()};
  (void)write_line(STDOUT_FILENO, {{"event", "ready"},
                                   {"system", "libraft"},
                                   {"node", options_.node},
                                   {"client", net::to_string(client)},
                                   {"raft", options_.raft_address(options_.node)},
                                   {"pid", ::getpid()},
                                   {"run_token", options_.run_token},
                                   {"durability", directory_.durability()}});
}

void Server::install_handles() {
  CHECK_EQ(uv_prepare_init(loop_, &prepare_), 0);
  CHECK_EQ(uv_check_init(loop_, &check_), 0);
  CHECK_EQ(uv_timer_init(loop_, &timer_), 0);
  CHECK_EQ(uv_signal_init(loop_, &sigterm_), 0);
  CHECK_EQ(uv_signal_init(loop_, &sigint_), 0);
  prepare_.data = check_.data = timer_.data = sigterm_.data = sigint_.data = this;
  // Both: what timers and closing handles caused must not wait for the next event.
  uv_prepare_start(&prepare_, [](uv_prepare_t* handle) { server_of(handle->data).turn(); });
  uv_check_start(&check_, [](uv_check_t* handle) { server_of(handle->data).turn(); });
  const auto on_signal = [](uv_signal_t* handle, int signal) {
    server_of(handle->data).begin_drain(signal);
  };
  CHECK_EQ(uv_signal_start(&sigterm_, on_signal, SIGTERM), 0);
  CHECK_EQ(uv_signal_start(&sigint_, on_signal, SIGINT), 0);
}

void Server::turn() {
  proposals_.flush(node_);
  node_.watch();
  if (stage_ == Stage::kDraining) {
    drain();
  }
  clients_.flush();
  if (node_.failure() && stage_ != Stage::kClosing && stage_ != Stage::kClosed) {
    events_.emit("failed", {{"reason", *node_.failure()}});
    exit_status_ = 1;
    begin_close();
  }
}

void Server::start_timer(std::uint64_t timeout_ms) {
  uv_timer_start(
      &timer_, [](uv_timer_t* timer) { server_of(timer->data).time_out(); }, timeout_ms, 0);
}

void Server::begin_drain(int signal) {
  if (stage_ == Stage::kDraining) {
    begin_close();  // Asked twice: now.
    return;
  }
  if (stage_ != Stage::kServing) {
    return;
  }
  stage_ = Stage::kDraining;
  events_.emit("stopping", {{"signal", signal}, {"pending", proposals_.pending()}});
  clients_.stop_accepting();
  start_timer(static_cast<std::uint64_t>(options_.drain_timeout.count()));
}

void Server::drain() {
  if (proposals_.pending() == 0 && !finishing_) {
    finishing_ = true;
    start_timer(kLingerMs);
    clients_.finish();
  }
}

void Server::begin_close() {
  if (stage_ == Stage::kClosing || stage_ == Stage::kClosed) {
    return;
  }
  stage_ = Stage::kClosing;
  // Only for the rest of the loop: what cannot be closed must not keep the process.
  start_timer(kCloseTimeoutMs);
  if (clients_.stop_accepting(); clients_.is_closed()) {
    node_.close();
    return;
  }
  clients_.close();
}

void Server::all_closed() {
  if (stage_ == Stage::kDraining) {
    stage_ = Stage::kClosing;
    start_timer(kCloseTimeoutMs);
  }
  node_.close();
}

void Server::time_out() {
  if (stage_ == Stage::kDraining) {
    if (!finishing_) {
      events_.emit("drain_timeout", {{"unanswered", proposals_.pending()}});
    }
    begin_close();
    return;
  }
  events_.emit("close_timeout", {{"timeout_ms", kCloseTimeoutMs}});
  ::_exit(exit_status_ == 0 ? 1 : exit_status_);
}

void Server::closed() {
  stage_ = Stage::kClosed;
  events_.emit("stopped", {{"exit_status", exit_status_}});
  close_handles();
}

void Server::close_handles() {
  for (uv_handle_t* handle :
       {generic(prepare_), generic(check_), generic(timer_), generic(sigterm_), generic(sigint_)}) {
    uv_close(handle, nullptr);
  }
}

void Server::request(Connection& from, const wire::Frame& request) {
  switch (request.kind) {
    case wire::Kind::kStatus:
      wire::append_node_status(from.reply(), request.correlation_id, node_.status());
      return;
    case wire::Kind::kTransferLeader:
      transfer(from, request);
      return;
    case wire::Kind::kAppend:
    case wire::Kind::kCompareAndSet:
    case wire::Kind::kGet:
      propose(from, request);
      return;
    case wire::Kind::kHello:
      break;
  }
  CHECK(false);  // The session answers hello itself.
}

void Server::propose(Connection& from, const wire::Frame& request) {
  const wire::ReplyTo to = wire::reply_to(request);
  if (stage_ != Stage::kServing || !node_.is_leader()) {
    wire::append_not_leader(from.reply(), to, hint());
    return;
  }
  if (proposals_.is_full(request.body.size())) {
    wire::append_busy(from.reply(), to);
    return;
  }
  if (!proposals_.take(request, from.id())) {
    wire::append_error(from.reply(), to, "out of memory");
    return;
  }
  from.expect_answer();
  if (proposals_.batch_is_full()) {
    proposals_.flush(node_);
  }
}

void Server::transfer(Connection& from, const wire::Frame& request) {
  const wire::ReplyTo to = wire::reply_to(request);
  const auto target = wire::load<std::int32_t>(request.body.data());
  proposals_.flush(node_);  // They came first, and would be refused afterwards.
  switch (const int code = node_.transfer(target)) {
    case 0:
      wire::append_done(from.reply(), to);
      return;
    case RAFT_NOTLEADER:
      wire::append_not_leader(from.reply(), to, hint());
      return;
    case RAFT_BUSY:
      wire::append_busy(from.reply(), to);
      return;
    case RAFT_BADID:
      wire::append_error(
          from.reply(), to,
          fmt::format("node {} is not one of 0 to {}", target, options_.nodes.size() - 1));
      return;
    default:
      wire::append_error(from.reply(), to, raft_strerror(code));
  }
}

std::int32_t Server::hint() const noexcept {
  const std::int32_t leader = node_.leader();
  // A node that is stopping sends nobody back to itself.
  return stage_ != Stage::kServing && leader == options_.node ? wire::kNoNode : leader;
}

Connection* Server::answer_to(const Ticket& ticket) noexcept {
  Connection* connection = clients_.find(ticket.connection);
  if (connection != nullptr) {
    connection->answered();
  }
  return connection;
}

void Server::value(const Ticket& ticket, std::uint64_t value) {
  if (Connection* connection = answer_to(ticket); connection != nullptr) {
    wire::append_value(connection->reply(), ticket.to, value);
  }
}

void Server::mismatch(const Ticket& ticket, std::uint64_t value) {
  if (Connection* connection = answer_to(ticket); connection != nullptr) {
    wire::append_mismatch(connection->reply(), ticket.to, value);
  }
}

void Server::not_leader(const Ticket& ticket) {
  if (Connection* connection = answer_to(ticket); connection != nullptr) {
    wire::append_not_leader(connection->reply(), ticket.to, hint());
  }
}

void Server::failed(const Ticket& ticket, std::string_view text) {
  if (Connection* connection = answer_to(ticket); connection != nullptr) {
    wire::append_error(connection->reply(), ticket.to, text);
  }
}

void Server::abandoned(const Ticket& ticket) {
  if (Connection* connection = answer_to(ticket); connection != nullptr) {
    connection->doom();
  }
}

void Server::applied(const Applied& applied, std::uint64_t log_index) {
  proposals_.applied(applied, log_index, node_.state());
}

void Server::leadership_lost() {
  if (const std::size_t count = proposals_.proposed(); count > 0) {
    events_.emit("abandoned", {{"requests", count}});
    proposals_.abandon();
  }
}

}  // namespace raftperf::libraft
