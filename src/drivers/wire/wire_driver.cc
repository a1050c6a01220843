// SPDX-License-Identifier: Apache-2.0
#include "drivers/wire/wire_driver.h"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace raftperf::drivers {
namespace {

using load::Operation;
using load::OperationKind;
using State = WireConnection::State;
using Io = WireConnection::Io;

constexpr std::size_t kNone = static_cast<std::size_t>(-1);
constexpr std::size_t kInputSize = 256 * 1024;
constexpr std::size_t kOkReplySize = wire::kHeaderSize + 8;

wire::Kind kind_of(OperationKind kind) noexcept {
  return kind == OperationKind::kCompareAndSet ? wire::Kind::kCompareAndSet : wire::Kind::kAppend;
}

std::size_t frame_size(const Operation& operation) noexcept {
  return wire::kHeaderSize + (operation.kind == OperationKind::kCompareAndSet
                                  ? wire::kCompareAndSetSize
                                  : operation.value_size);
}

/// The first half of the header of an answer that went well.
std::uint64_t ok_header(OperationKind kind) noexcept {
  std::array<std::byte, wire::kHeaderSize> header;
  wire::put_reply_header(header.data(), kind_of(kind), wire::Status::kOk, 0, 8);
  return wire::load<std::uint64_t>(header.data());
}

/// What a reply means to the rig. SPEC.md section 4. REQUIRES: an append's or a
/// compare-and-set's.
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
    return Error{
        fmt::format("the wire driver has no setting '{}'", config.settings.begin()->first)};
  }
  if (config.nodes.empty()) {
    return Error{"the wire driver needs the address of a node; example: 127.0.0.1:8300"};
  }
  if (config.connections == 0) {
    return Error{"connections 0: the wire driver needs 1 or more per node; example: 4"};
  }
  std::unique_ptr<WireDriver> driver(new WireDriver(config));
  if (!driver->epoll_.valid()) {
    return Error{fmt::format("epoll: {}", std::strerror(errno))};
  }
  return DriverPtr(std::move(driver));
}

WireDriver::WireDriver(const DriverConfig& config)
    : config_(config),
      nodes_(config.nodes.size()),
      outstanding_(config.in_flight_max),
      in_(kInputSize),
      ok_header_(ok_header(config.operation)) {
  const std::size_t value_size = config.operation == OperationKind::kCompareAndSet
                                     ? wire::kCompareAndSetSize
                                     : config.value_size;
  const std::size_t count = nodes_.size() * config.connections;
  stats_.connections_asked = static_cast<std::uint32_t>(count);
  connections_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    connections_.emplace_back(static_cast<std::uint32_t>(i / config.connections),
                              wire::kHeaderSize + value_size);
  }
  touched_.reserve(count);
  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));  // last, so that its errno is kept
}

std::size_t WireDriver::submit(std::span<const Operation> operations) noexcept {
  std::size_t taken = 0;
  for (const Operation& operation : operations) {
    const std::size_t index = choose(operation);
    if (index == kNone || !put(index, operation)) {
      break;
    }
    outstanding_[operation.id.slot()] = {.id = operation.id.bits(),
                                         .connection = static_cast<std::uint32_t>(index + 1)};
    ++taken;
  }
  stats_.frames_sent += taken;
  for (const std::size_t index : touched_) {
    if (connections_[index].has_output()) {
      flush(index);
    }
  }
  touched_.clear();
  return taken;
}

/// A ready connection to the operation's node, by its lane; kNone if there is none.
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

bool WireDriver::put(std::size_t index, const Operation& operation) noexcept {
  const std::size_t size = frame_size(operation);
  std::byte* frame = reserve(index, size);
  if (frame == nullptr) {
    return false;
  }
  const auto body = static_cast<std::uint32_t>(size - wire::kHeaderSize);
  wire::put_request_header(frame, kind_of(operation.kind), operation.id.bits(), body);
  if (operation.kind == OperationKind::kCompareAndSet) {
    wire::put(frame + wire::kHeaderSize, wire::CompareAndSet{.key = operation.key,
                                                             .expected = operation.expected,
                                                             .desired = operation.value});
  } else {
    load::write_payload(operation, {frame + wire::kHeaderSize, body});
  }
  return true;
}

std::byte* WireDriver::reserve(std::size_t index, std::size_t size) noexcept {
  WireConnection& connection = connections_[index];
  if (!connection.has_output()) {
    std::byte* frame = connection.reserve(size);
    if (frame != nullptr) {
      touched_.push_back(index);
    }
    return frame;
  }
  std::byte* frame = connection.reserve(size);
  if (frame == nullptr) {
    // A batch of large requests is larger than the buffer.
    flush(index);
    frame = connection.reserve(size);
  }
  return frame;
}

void WireDriver::flush(std::size_t index) noexcept {
  ++stats_.sends;
  connections_[index].flush();
  // Nothing is completed inside submit: the next poll takes care of it.
  broken_ = broken_ || connections_[index].broken();
}

void WireDriver::poll() noexcept {
  std::array<epoll_event, 64> events;
  const int ready = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < ready; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    on_event(event.data.u64, event.events);
  }
  if (broken_) [[unlikely]] {
    broken_ = false;
    for (std::size_t index = 0; index < connections_.size(); ++index) {
      if (connections_[index].state() != State::kClosed && connections_[index].broken()) {
        fail(index, "the connection was lost");
      }
    }
  }
  if (undecided_ > 0) [[unlikely]] {
    expire_undecided(sink_->arrived().time());
  }
  if (links_changed_) [[unlikely]] {
    report_links();
  }
}

void WireDriver::on_event(std::size_t index, std::uint32_t events) noexcept {
  WireConnection& connection = connections_[index];
  if (connection.state() == State::kClosed) [[unlikely]] {
    return;
  }
  if (connection.state() == State::kConnecting) [[unlikely]] {
    if (const int code = net::connect_error(connection.fd()); code != 0) {
      fail(index, std::strerror(code));
      return;
    }
    connection.greet();
  }
  if ((events & EPOLLOUT) != 0 && connection.has_output()) [[unlikely]] {
    flush(index);
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
    const WireConnection::Received received = connection.receive(in_);
    ++stats_.receives;
    if (received.io == Io::kWouldBlock) {
      return;
    }
    if (received.io == Io::kLost) {
      fail(index, "the server closed the connection");
      return;
    }
    more = received.more;
    const std::size_t used = parse(index, received.bytes, sink_->arrived());
    if (connection.state() == State::kClosed || connection.state() == State::kConnecting) {
      return;  // it broke the protocol; the node's next address may be tried by now
    }
    const auto rest = received.bytes.subspan(used);
    if (rest.size() > WireConnection::kReplySizeMax) {
      break_protocol(index, "a frame longer than any reply");
      return;
    }
    connection.keep(rest);
  }
}

std::size_t WireDriver::parse(std::size_t index, std::span<const std::byte> input,
                              load::Arrival arrival) noexcept {
  std::size_t used = 0;
  while (true) {
    const std::byte* at = input.data() + used;
    const std::size_t left = input.size() - used;
    // Nearly every reply. What it skips is what parse_frame would find right.
    if (left >= kOkReplySize && wire::load<std::uint64_t>(at) == ok_header_ &&
        connections_[index].ready()) [[likely]] {
      used += kOkReplySize;
      complete({.id = load::OperationId(wire::load<std::uint64_t>(at + 8)),
                .value = wire::load<std::uint64_t>(at + wire::kHeaderSize)},
               arrival);
      continue;
    }
    const wire::Parsed parsed = wire::parse_frame(input.subspan(used));
    if (parsed.result == wire::ParseResult::kNeedMore) {
      return used;
    }
    if (parsed.result == wire::ParseResult::kMalformed) {
      break_protocol(index, parsed.reason);
      return used;
    }
    used += parsed.frame_size;
    if (!handle(index, parsed.frame, arrival)) {
      return used;
    }
  }
}

bool WireDriver::handle(std::size_t index, const wire::Frame& frame,
                        load::Arrival arrival) noexcept {
  if (!frame.is_reply) {
    break_protocol(index, "a request sent by a server");
    return false;
  }
  if (connections_[index].state() == State::kGreeting) {
    return welcome(index, frame);
  }
  if (frame.kind != kind_of(config_.operation)) {
    break_protocol(index, fmt::format("a reply to {}, which was not asked", to_string(frame.kind)));
    return false;
  }
  load::Completion completion = completion_of(frame);
  if (completion.reason == load::Reason::kNotLeader) {
    completion.leader_hint = index_of(completion.leader_hint);
  }
  complete(completion, arrival);
  return true;
}

void WireDriver::complete(const load::Completion& completion, load::Arrival arrival) noexcept {
  ++stats_.frames_received;
  const std::uint32_t slot = completion.id.slot();
  if (slot < outstanding_.size() && outstanding_[slot].id == completion.id.bits()) {
    outstanding_[slot].connection = 0;
  }
  sink_->complete(completion, arrival);
}

std::uint32_t WireDriver::request_bytes(const Operation& operation) const noexcept {
  return static_cast<std::uint32_t>(frame_size(operation));
}

}  // namespace raftperf::drivers
