// SPDX-License-Identifier: Apache-2.0
#include "drivers/wire/wire_driver.h"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>

#include "base/check.h"

namespace raftperf::drivers {
namespace {

using load::Operation;
using load::OperationKind;
using State = WireConnection::State;
using Io = WireConnection::Io;

constexpr std::size_t kNone = static_cast<std::size_t>(-1);
constexpr std::size_t kCompareAndSetFrame = wire::kHeaderSize + 24;

std::size_t frame_size(const Operation& operation) noexcept {
  return operation.kind == OperationKind::kCompareAndSet
             ? kCompareAndSetFrame
             : wire::kHeaderSize + operation.value_size;
}

/// What a reply means to the rig. SPEC.md section 4.
load::Completion completion_of(const wire::Frame& frame) noexcept {
  using load::Outcome;
  using load::Reason;
  load::Completion completion{.id = load::OperationId(frame.correlation_id)};
  switch (frame.status) {
    case wire::Status::kOk:
      completion.value = wire::load<std::uint64_t>(frame.body.data());
      break;
    case wire::Status::kMismatch:
      completion.reason = Reason::kMismatch;
      completion.value = wire::load<std::uint64_t>(frame.body.data());
      break;
    case wire::Status::kNotLeader:
      completion.outcome = Outcome::kRejected;
      completion.reason = Reason::kNotLeader;
      completion.leader_hint = wire::load<std::int32_t>(frame.body.data());
      break;
    case wire::Status::kBusy:
      completion.outcome = Outcome::kRejected;
      completion.reason = Reason::kBusy;
      break;
    case wire::Status::kError:
      completion.outcome = Outcome::kRejected;
      completion.reason = Reason::kError;
      break;
  }
  return completion;
}

}  // namespace

Result<DriverPtr> WireDriver::create(const DriverConfig& config) {
  if (config.operation != OperationKind::kAppend &&
      config.operation != OperationKind::kCompareAndSet) {
    return Error{fmt::format("the wire protocol has no operation {}", to_string(config.operation))};
  }
  if (config.operation == OperationKind::kAppend &&
      (config.value_size == 0 || config.value_size > wire::kBodyLengthMax)) {
    return Error{fmt::format("value size {}: the wire protocol carries 1 to {} bytes",
                             config.value_size, wire::kBodyLengthMax)};
  }
  if (!config.settings.empty()) {
    return Error{fmt::format("the wire driver has no setting '{}'", config.settings.begin()->first)};
  }
  return DriverPtr(new WireDriver(config));
}

WireDriver::WireDriver(const DriverConfig& config)
    : config_(config),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      next_address_(config.nodes.size(), 0),
      outstanding_(config.in_flight_max) {
  const std::size_t count = config.nodes.size() * config.connections;
  tries_.resize(count, 0);
  stats_.connections_asked = static_cast<std::uint32_t>(count);
  connections_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    connections_.emplace_back(wire::kHeaderSize + std::max(config.value_size, 24U));
  }
  touched_.reserve(count);
}

Result<void> WireDriver::connect(load::CompletionSink& sink) {
  sink_ = &sink;
  if (const auto resolved = resolve_nodes(); !resolved) {
    return resolved;
  }
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    if (!start(i)) {
      lose(i);
    }
  }
  await_greetings();
  if (std::none_of(connections_.begin(), connections_.end(),
                   [](const WireConnection& connection) { return connection.ready(); })) {
    return Error{fmt::format("no node answers on {}{}", to_string(config_.nodes.front()),
                             config_.nodes.size() > 1 ? " and the others" : "")};
  }
  return {};
}

Result<void> WireDriver::resolve_nodes() {
  for (const net::Endpoint& node : config_.nodes) {
    auto addresses = net::resolve(node);
    if (!addresses) {
      return Error{addresses.error()};
    }
    addresses_.push_back(*std::move(addresses));
  }
  return {};
}

bool WireDriver::start(std::size_t connection) noexcept {
  const std::uint32_t node = node_of(connection);
  const auto& addresses = addresses_[node];
  auto fd = net::start_connect(addresses[next_address_[node] % addresses.size()]);
  if (!fd) {
    return false;
  }
  epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data = {}};
  event.data.u64 = connection;
  CHECK_EQ(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd->get(), &event), 0);
  connections_[connection].open(*std::move(fd));
  return true;
}

void WireDriver::await_greetings() noexcept {
  const auto deadline = sink_->arrived().time() + config_.connect_timeout;
  const auto undecided = [](const WireConnection& connection) {
    return connection.state() == State::kConnecting || connection.state() == State::kGreeting;
  };
  while (std::any_of(connections_.begin(), connections_.end(), undecided)) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - sink_->arrived().time());
    if (left.count() <= 0) {
      break;
    }
    epoll_event event{};
    if (::epoll_wait(epoll_.get(), &event, 1, static_cast<int>(left.count())) > 0) {
      on_event(event.data.u64, event.events);
    }
  }
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    if (undecided(connections_[i])) {
      lose(i);
    }
  }
}

std::size_t WireDriver::choose(const Operation& operation) const noexcept {
  const std::size_t first = std::size_t{operation.node} * config_.connections;
  for (std::uint32_t i = 0; i < config_.connections; ++i) {
    const std::size_t connection = first + (operation.lane + i) % config_.connections;
    if (connections_[connection].ready()) {
      return connection;
    }
  }
  return kNone;
}

std::size_t WireDriver::submit(std::span<const Operation> operations) noexcept {
  std::size_t taken = 0;
  for (const Operation& operation : operations) {
    const std::size_t index = choose(operation);
    if (index == kNone) {
      break;
    }
    WireConnection& connection = connections_[index];
    const bool was_empty = !connection.has_output();
    if (!put(connection, operation)) {
      break;
    }
    outstanding_[operation.id.slot()] = {.id = operation.id.bits(),
                                         .connection = static_cast<std::uint32_t>(index + 1)};
    if (was_empty) {
      touched_.push_back(index);
    }
    ++taken;
  }
  stats_.frames_sent += taken;
  for (const std::size_t index : touched_) {
    flush(index);
  }
  touched_.clear();
  return taken;
}

bool WireDriver::put(WireConnection& connection, const Operation& operation) noexcept {
  const std::size_t size = frame_size(operation);
  std::byte* frame = connection.reserve(size);
  if (frame == nullptr) {
    return false;
  }
  const auto body = static_cast<std::uint32_t>(size - wire::kHeaderSize);
  if (operation.kind == OperationKind::kCompareAndSet) {
    wire::put_request_header(frame, wire::Kind::kCompareAndSet, operation.id.bits(), body);
    wire::put(frame + wire::kHeaderSize, wire::CompareAndSet{.key = operation.key,
                                                             .expected = operation.expected,
                                                             .desired = operation.value});
  } else {
    wire::put_request_header(frame, wire::Kind::kAppend, operation.id.bits(), body);
    load::write_payload(operation, {frame + wire::kHeaderSize, body});
  }
  return true;
}

void WireDriver::flush(std::size_t connection) noexcept {
  ++stats_.sends;
  // A lost connection is noticed by the next poll: nothing is completed inside submit.
  (void)connections_[connection].flush();
}

void WireDriver::poll() noexcept {
  std::array<epoll_event, 64> events;
  const int ready =
      ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < ready; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    on_event(event.data.u64, event.events);
  }
}

void WireDriver::on_event(std::size_t index, std::uint32_t events) noexcept {
  WireConnection& connection = connections_[index];
  if (connection.state() == State::kClosed) {
    return;
  }
  if (connection.state() == State::kConnecting) {
    if (net::connect_error(connection.fd()) != 0) {
      try_next_address(index);
      return;
    }
    connection.greet();
  }
  if ((events & EPOLLOUT) != 0 && connection.has_output() && connection.flush() == Io::kLost) {
    lose(index);
    return;
  }
  if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
    read_all(index, (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0);
  }
}

// Edge-triggered, so a short read ends it: what comes later is an event of its own. A
// hang-up that has been announced already is not, hence `closing`.
void WireDriver::read_all(std::size_t index, bool closing) noexcept {
  WireConnection& connection = connections_[index];
  for (bool more = true; more || closing;) {
    const Io io = connection.receive(more);
    ++stats_.receives;
    if (io == Io::kWouldBlock) {
      return;
    }
    if (io == Io::kLost || !parse(index, sink_->arrived())) {
      lose(index);
      return;
    }
  }
}

bool WireDriver::parse(std::size_t index, load::Arrival arrival) noexcept {
  WireConnection& connection = connections_[index];
  while (true) {
    const wire::Parsed parsed = wire::parse_frame(connection.input());
    if (parsed.result == wire::ParseResult::kNeedMore) {
      return true;
    }
    if (parsed.result == wire::ParseResult::kMalformed || !parsed.frame.is_reply) {
      ++stats_.protocol_errors;
      return false;
    }
    connection.consume(parsed.frame_size);
    if (connection.state() == State::kGreeting) {
      if (parsed.frame.kind != wire::Kind::kHello || parsed.frame.status != wire::Status::kOk) {
        ++stats_.protocol_errors;
        return false;
      }
      connection.mark_ready();
      report_link(node_of(index));
      continue;
    }
    ++stats_.frames_received;
    complete(parsed.frame, arrival);
  }
}

void WireDriver::complete(const wire::Frame& frame, load::Arrival arrival) noexcept {
  const load::OperationId id(frame.correlation_id);
  if (id.slot() < outstanding_.size() && outstanding_[id.slot()].id == id.bits()) {
    outstanding_[id.slot()].connection = 0;
  }
  sink_->complete(completion_of(frame), arrival);
}

void WireDriver::lose(std::size_t index) noexcept {
  connections_[index].close();
  const load::Arrival now = sink_->arrived();
  for (Outstanding& each : outstanding_) {
    if (each.connection == index + 1) {
      each.connection = 0;
      sink_->complete({.id = load::OperationId(each.id),
                       .outcome = load::Outcome::kUnknown,
                       .reason = load::Reason::kLost},
                      now);
    }
  }
  report_link(node_of(index));
}

// A host name may have several addresses of which only some are listened on.
void WireDriver::try_next_address(std::size_t index) noexcept {
  const std::uint32_t node = node_of(index);
  connections_[index].close();
  ++next_address_[node];
  if (++tries_[index] >= addresses_[node].size() || !start(index)) {
    lose(index);
  }
}

void WireDriver::report_link(std::uint32_t node) noexcept {
  const auto first = connections_.begin() +
                     static_cast<std::ptrdiff_t>(std::size_t{node} * config_.connections);
  const auto last = first + static_cast<std::ptrdiff_t>(config_.connections);
  const auto ready = std::count_if(first, last, [](const auto& each) { return each.ready(); });
  const load::Arrival now = sink_->arrived();
  if (ready == last - first) {
    sink_->link_up(node, now);
  } else if (ready == 0) {
    sink_->link_down(node, now);
  } else if (std::any_of(first, last, [](const auto& c) { return c.state() == State::kClosed; })) {
    sink_->link_degraded(node, now);
  }
}

void WireDriver::reconnect(std::uint32_t node) noexcept {
  const std::size_t first = std::size_t{node} * config_.connections;
  for (std::size_t i = first; i < first + config_.connections; ++i) {
    if (connections_[i].state() != State::kClosed) {
      continue;
    }
    tries_[i] = 0;
    if (!start(i)) {
      lose(i);
    }
  }
}

TransportStats WireDriver::transport() const noexcept {
  TransportStats stats = stats_;
  stats.connections_live = static_cast<std::uint32_t>(std::count_if(
      connections_.begin(), connections_.end(), [](const auto& each) { return each.ready(); }));
  return stats;
}

std::uint32_t WireDriver::request_bytes(const Operation& operation) const noexcept {
  return static_cast<std::uint32_t>(frame_size(operation));
}

}  // namespace raftperf::drivers
