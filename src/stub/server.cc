// SPDX-License-Identifier: Apache-2.0
#include "stub/server.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "net/socket.h"

namespace raftperf::stub {
namespace {

constexpr std::size_t kReceiveSize = 256U << 10U;
constexpr std::size_t kUnsentMax = 8U << 20U;  // Of one connection; above, it is not read.
constexpr std::chrono::seconds kDrainMax{5};   // For clients that do not read their answers.

constexpr ConnectionId kListener{.slot = 0xFFFFFFFF, .generation = 0};
constexpr ConnectionId kSignals{.slot = 0xFFFFFFFE, .generation = 0};

TimePoint now() noexcept { return std::chrono::steady_clock::now(); }

std::uint64_t pack(ConnectionId id) noexcept {
  return (std::uint64_t{id.generation} << 32U) | id.slot;
}

ConnectionId unpack(std::uint64_t data) noexcept {
  return {.slot = static_cast<std::uint32_t>(data),
          .generation = static_cast<std::uint32_t>(data >> 32U)};
}

timespec until(TimePoint time) noexcept {
  const auto left = std::max<std::int64_t>(0, std::chrono::nanoseconds(time - now()).count());
  return {.tv_sec = left / 1'000'000'000, .tv_nsec = left % 1'000'000'000};
}

void raise_descriptor_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

}  // namespace

Server::Server(Options options)
    : options_(std::move(options)),
      node_(options_.identity, options_.faults, counters_),
      service_(options_.service),
      received_(wire::kFrameSizeMax + kReceiveSize) {}

Result<std::unique_ptr<Server>> Server::create(Options options) {
  std::unique_ptr<Server> server(new Server(std::move(options)));
  if (auto opened = server->open(); !opened) {
    return Error{opened.error()};
  }
  return server;
}

Result<void> Server::open() {
  raise_descriptor_limit();
  // The default slack of 50 us would be added to every --delay.
  (void)::prctl(PR_SET_TIMERSLACK, 1UL);
  auto listener = net::listen_on(options_.listen.host, options_.listen.port);
  if (!listener) {
    return Error{listener.error()};
  }
  listener_ = *std::move(listener);
  if (!options_.arrival_log.empty()) {
    auto log = ArrivalLog::create(options_.arrival_log);
    if (!log) {
      return Error{log.error()};
    }
    arrival_log_ = *std::move(log);
  }
  if (auto written = write_logs(); !written) {
    return written;
  }
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) {
    sigaddset(&signals, signal);
  }
  (void)::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signals_.reset(::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC));
  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!signals_.valid() || !epoll_.valid()) {
    return Error{fmt::format("epoll: {}", std::strerror(errno))};
  }
  if (auto watched = watch(listener_.get(), EPOLLIN | EPOLLET, kListener); !watched) {
    return watched;
  }
  return watch(signals_.get(), EPOLLIN, kSignals);
}

Result<void> Server::watch(int fd, std::uint32_t events, ConnectionId id) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = pack(id);
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    return Error{fmt::format("epoll: {}", std::strerror(errno))};
  }
  return {};
}

std::uint16_t Server::port() const noexcept { return net::bound_port(listener_.get()); }

Result<void> Server::run() {
  while (!stopping_) {
    wait();
    sit_out_freezes();
    if (stopping_) {
      break;
    }
    accept_all();
    read_ready();
    answer_due();
  }
  drain();
  return write_logs();
}

void Server::wait() {
  std::array<epoll_event, 256> events;
  timespec left{};
  const timespec* timeout = nullptr;
  if (const auto due = next_due(); !ready_.empty()) {
    timeout = &left;
  } else if (due) {
    left = until(*due);
    timeout = &left;
  }
  const int count = ::epoll_pwait2(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                   timeout, nullptr);
  for (int i = 0; i < count; ++i) {
    notice(events[static_cast<std::size_t>(i)]);
  }
}

void Server::notice(const epoll_event& event) {
  const ConnectionId id = unpack(event.data.u64);
  if (id == kListener) {
    may_accept_ = true;
    return;
  }
  if (id == kSignals) {
    take_signals();
    return;
  }
  Connection* connection = find(id);
  if (connection == nullptr) {
    return;
  }
  if ((event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
    connection->peer_closed = true;
  }
  if ((event.events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
    mark_ready(*connection);
  }
  if ((event.events & EPOLLOUT) != 0 && connection->unsent() > 0) {
    to_flush_.push_back(id);
  }
}

void Server::mark_ready(Connection& connection) {
  if (!connection.ready && !connection.closing) {
    connection.ready = true;
    ready_.push_back(connection.id());
  }
}

std::optional<TimePoint> Server::thaw_after(TimePoint time) const noexcept {
  const auto elapsed = node_.elapsed(time);
  if (!elapsed) {
    return std::nullopt;
  }
  for (const Window& freeze : options_.freezes) {
    if (freeze.contains(*elapsed)) {
      return time + (freeze.length - (*elapsed - freeze.at));
    }
  }
  return std::nullopt;
}

void Server::sit_out_freezes() {
  // One window may end within another.
  while (!stopping_) {
    const auto thaw = thaw_after(now());
    if (!thaw) {
      return;
    }
    wait_for_signals(*thaw);
  }
}

void Server::accept_all() {
  while (may_accept_) {
    FileDescriptor socket(
        ::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.valid()) {
      const bool interrupted = errno == EINTR || errno == ECONNABORTED;
      if (errno != EAGAIN && !interrupted) {
        // Out of descriptors, most likely: tried again when a connection has closed.
        fmt::print(stderr, "raftperf-stub: accept: {}\n", std::strerror(errno));
      }
      may_accept_ = interrupted;
      continue;
    }
    net::set_no_delay(socket.get());
    if (free_slots_.empty()) {
      free_slots_.push_back(static_cast<std::uint32_t>(connections_.size()));
      connections_.emplace_back();
    }
    const ConnectionId id{.slot = free_slots_.back(), .generation = ++generation_};
    const int fd = socket.get();
    if (auto watched = watch(fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, id); !watched) {
      fmt::print(stderr, "raftperf-stub: {}\n", watched.error());
      continue;
    }
    free_slots_.pop_back();
    connections_[id.slot] = std::make_unique<Connection>(std::move(socket), id, node_.hello());
    ++counters_.connections_accepted;
  }
}

void Server::read_ready() {
  ready_next_.clear();
  for (const ConnectionId id : ready_) {
    Connection* connection = find(id);
    const bool more = connection != nullptr && receive(*connection);
    // `receive` may have closed it.
    connection = find(id);
    if (connection != nullptr) {
      connection->ready = more;
    }
    if (connection != nullptr && more) {
      ready_next_.push_back(id);
    }
  }
  ready_.swap(ready_next_);
}

bool Server::receive(Connection& connection) {
  if (connection.closing || connection.unsent() > kUnsentMax) {
    return false;
  }
  const std::span<const std::byte> rest = connection.rest();
  std::copy(rest.begin(), rest.end(), received_.begin());
  ++counters_.receive_calls;
  const ssize_t count = ::recv(connection.fd(), received_.data() + rest.size(), kReceiveSize, 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
    return errno == EINTR;
  }
  if (count <= 0) {
    close(connection);
    return false;
  }
  const TimePoint arrival = now();
  const auto length = static_cast<std::size_t>(count);
  counters_.bytes_received += length;
  const auto bytes = std::span<const std::byte>(received_).first(rest.size() + length);
  const bool greeted = connection.session().version() != 0;
  const auto consumed = connection.session().consume(
      bytes, connection.out(),
      [&](const wire::Frame& frame) { return handle(connection, frame, arrival); });
  if (!greeted && connection.session().version() != 0) {
    ++counters_.hellos;
    ++counters_.frames_received;
    ++counters_.frames_sent;
  }
  connection.keep(bytes.subspan(consumed.bytes));
  if (!consumed.malformed_reason.empty()) {
    ++counters_.connections_malformed;
    fmt::print(stderr, "raftperf-stub: connection from {}: malformed: {}; closed\n",
               connection.peer(), consumed.malformed_reason);
  }
  if (consumed.close) {
    close_when_sent(connection);
    return false;
  }
  const bool drained = length < kReceiveSize && !connection.peer_closed;
  flush(connection);
  return !drained;
}

wire::After Server::handle(Connection& connection, const wire::Frame& frame, TimePoint arrival) {
  ++counters_.frames_received;
  if (frame.kind == wire::Kind::kStatus || frame.kind == wire::Kind::kTransferLeader) {
    node_.answer_control(frame, arrival, connection.out());
    return wire::After::kContinue;
  }
  if (arrival_log_) {
    arrival_log_->record(arrival, frame.correlation_id);
  }
  const Decision decision = node_.decide(frame, arrival);
  const DueAnswer answer{.due = arrival, .connection = connection.id(), .answer = decision.answer};
  switch (decision.action) {
    case Action::kServe:
    case Action::kRefuse: {
      if (service_.immediate()) {
        node_.write(decision.answer, connection.out());
        break;
      }
      const bool served = decision.action == Action::kServe;
      DueAnswer later = answer;
      later.due = served ? service_.serve(arrival) : service_.refuse(arrival);
      (served ? served_ : refused_).push(later);
      break;
    }
    case Action::kHold:
      held_.push_back(answer);
      break;
    case Action::kDrop:
      break;
    case Action::kClose:
      return wire::After::kClose;
  }
  return wire::After::kContinue;
}

std::optional<TimePoint> Server::next_due() const noexcept {
  if (served_.empty() && refused_.empty()) {
    return std::nullopt;
  }
  if (served_.empty() || refused_.empty()) {
    return served_.empty() ? refused_.front().due : served_.front().due;
  }
  return std::min(served_.front().due, refused_.front().due);
}

void Server::answer_due() {
  if (const auto due = next_due()) {
    const TimePoint time = now();
    for (AnswerQueue* queue : {&served_, &refused_}) {
      for (; !queue->empty() && queue->front().due <= time; queue->pop()) {
        give(queue->front());
      }
    }
  }
  for (const ConnectionId id : to_flush_) {
    if (Connection* connection = find(id)) {
      flush(*connection);
    }
  }
  to_flush_.clear();
}

void Server::give(const DueAnswer& answer) {
  Connection* connection = find(answer.connection);
  if (connection == nullptr) {
    ++counters_.answers_lost;
    return;
  }
  if (connection->unsent() == 0) {
    to_flush_.push_back(answer.connection);
  }
  node_.write(answer.answer, connection->out());
}

Connection* Server::find(ConnectionId id) noexcept {
  if (id.slot >= connections_.size() || connections_[id.slot] == nullptr ||
      connections_[id.slot]->id() != id) {
    return nullptr;
  }
  return connections_[id.slot].get();
}

void Server::flush(Connection& connection) {
  const bool was_full = connection.unsent() > kUnsentMax;
  const Connection::Sent sent = connection.flush(counters_);
  if (sent == Connection::Sent::kBroken || (sent == Connection::Sent::kAll && connection.closing)) {
    close(connection);
    return;
  }
  if (was_full && connection.unsent() <= kUnsentMax) {
    // It was not read while full, so its edge may be past.
    mark_ready(connection);
  }
}

void Server::close_when_sent(Connection& connection) {
  connection.closing = true;
  flush(connection);
}

void Server::close(Connection& connection) {
  ++counters_.connections_closed;
  const std::uint32_t slot = connection.id().slot;
  connections_[slot].reset();
  free_slots_.push_back(slot);
  // In case that accepting had run out of descriptors.
  may_accept_ = true;
}

void Server::take_signals() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (info.ssi_signo != static_cast<std::uint32_t>(SIGUSR1)) {
      stopping_ = true;
    } else if (auto written = write_logs(); !written) {
      fmt::print(stderr, "raftperf-stub: {}\n", written.error());
    }
  }
}

void Server::wait_for_signals(TimePoint time) {
  pollfd waiting{.fd = signals_.get(), .events = POLLIN, .revents = 0};
  const timespec left = until(time);
  if (::ppoll(&waiting, 1, &left, nullptr) > 0) {
    take_signals();
  }
}

void Server::drain() {
  listener_.reset();
  for (AnswerQueue* queue : {&served_, &refused_}) {
    for (; !queue->empty(); queue->pop()) {
      give(queue->front());
    }
  }
  for (const DueAnswer& answer : held_) {
    give(answer);
  }
  held_.clear();
  const TimePoint deadline = now() + kDrainMax;
  for (const auto& connection : connections_) {
    while (connection != nullptr && now() < deadline &&
           connection->flush(counters_) == Connection::Sent::kBlocked) {
      pollfd waiting{.fd = connection->fd(), .events = POLLOUT, .revents = 0};
      const timespec left = until(deadline);
      (void)::ppoll(&waiting, 1, &left, nullptr);
    }
  }
  for (const auto& connection : connections_) {
    if (connection != nullptr) {
      close(*connection);
    }
  }
}

Result<void> Server::write_logs() {
  // The arrivals first: who sees new counters finds as many arrivals in the log.
  auto written = arrival_log_ ? arrival_log_->flush() : Result<void>{};
  if (options_.counters_file.empty()) {
    return written;
  }
  counters_.pending = served_.size() + refused_.size() + held_.size();
  ++counters_.dumps;
  auto counted = write_counters(counters_, options_.counters_file);
  return written ? counted : written;
}

}  // namespace raftperf::stub
