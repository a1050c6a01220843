// SPDX-License-Identifier: Apache-2.0
//
// How the wire driver makes its connections and what it does when it loses one.
#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "drivers/wire/wire_driver.h"

namespace raftperf::drivers {

using State = WireConnection::State;

Result<void> WireDriver::connect(load::CompletionSink& sink) {
  sink_ = &sink;
  if (auto resolved = resolve_nodes(); !resolved) {
    return resolved;
  }
  const load::TimePoint now = sink.arrived().time();
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    begin(i, now);
  }
  await_decisions();
  report_links();
  if (std::none_of(nodes_.begin(), nodes_.end(), [](const Node& node) { return node.ready > 0; })) {
    return Error{fmt::format("no node answers: {}", troubles())};
  }
  return {};
}

Result<void> WireDriver::resolve_nodes() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    auto addresses = net::resolve(config_.nodes[i]);
    if (!addresses) {
      return Error{addresses.error()};
    }
    nodes_[i].addresses = *std::move(addresses);
  }
  return {};
}

void WireDriver::begin(std::size_t index, load::TimePoint now) {
  WireConnection& connection = connections_[index];
  connection.first_address = nodes_[connection.node()].preferred;
  connection.addresses_tried = 0;
  try_next_address(index, now);
}

// A host name may have several addresses of which only some are listened on.
void WireDriver::try_next_address(std::size_t index, load::TimePoint now) {
  WireConnection& connection = connections_[index];
  Node& node = nodes_[connection.node()];
  const std::size_t count = node.addresses.size();
  node.changed = links_changed_ = true;
  while (connection.addresses_tried < count) {
    const std::size_t at = (connection.first_address + connection.addresses_tried++) % count;
    auto fd = net::start_connect(node.addresses[at]);
    if (!fd) {
      node.trouble = fd.error();
      continue;
    }
    epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data = {}};
    event.data.u64 = index;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd->get(), &event) != 0) {
      node.trouble = fmt::format("epoll: {}", std::strerror(errno));
      continue;
    }
    connection.open(*std::move(fd));
    connection.decide_by = now + config_.connect_timeout / static_cast<std::int64_t>(count);
    ++node.undecided;
    ++undecided_;
    return;
  }
}

void WireDriver::await_decisions() {
  while (undecided_ > 0) {
    load::TimePoint first = load::kNever;
    for (const WireConnection& connection : connections_) {
      if (connection.undecided()) {
        first = std::min(first, connection.decide_by);
      }
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(first - sink_->arrived().time());
    std::array<epoll_event, 64> events;
    const int ready = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                   static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    for (int i = 0; i < ready; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      on_event(event.data.u64, event.events);
    }
    expire_undecided(sink_->arrived().time());
  }
}

void WireDriver::expire_undecided(load::TimePoint now) {
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    if (connections_[i].undecided() && connections_[i].decide_by <= now) {
      fail(i, fmt::format("no answer within {} ms", config_.connect_timeout.count()));
    }
  }
}

bool WireDriver::welcome(std::size_t index, const wire::Frame& frame) {
  WireConnection& connection = connections_[index];
  if (frame.kind != wire::Kind::kHello) {
    break_protocol(index, "the first reply is not to hello");
    return false;
  }
  if (frame.status != wire::Status::kOk) {
    std::string text = fmt::format("hello was answered with {}", to_string(frame.status));
    if (frame.status == wire::Status::kError) {
      text += fmt::format(": {}", std::string_view(reinterpret_cast<const char*>(frame.body.data()),
                                                   frame.body.size()));
    }
    break_protocol(index, text);
    return false;
  }
  const wire::HelloReply hello = wire::get_hello_reply(frame.body);
  if (hello.version != wire::kVersion) {
    break_protocol(index, fmt::format("version {} of the wire protocol", hello.version));
    return false;
  }
  if (config_.operation == load::OperationKind::kAppend &&
      config_.value_size > hello.body_length_max) {
    fail(index, fmt::format("it takes values of at most {} bytes, not of {}", hello.body_length_max,
                            config_.value_size));
    return false;
  }
  Node& node = nodes_[connection.node()];
  node.announced = hello.node;
  node.preferred =
      (connection.first_address + connection.addresses_tried - 1) % node.addresses.size();
  ++node.ready;
  --node.undecided;
  --undecided_;
  node.changed = links_changed_ = true;
  connection.mark_ready();
  return true;
}

// The rig may have been given some of the cluster's nodes only, or in another order.
int WireDriver::index_of(std::int32_t node) const noexcept {
  const auto announces = [node](const Node& each) { return each.announced == node; };
  const auto same = static_cast<std::size_t>(node);
  if (node < 0 || (same < nodes_.size() && announces(nodes_[same]))) {
    return node;
  }
  const auto found = std::find_if(nodes_.begin(), nodes_.end(), announces);
  return found != nodes_.end() ? static_cast<int>(found - nodes_.begin()) : node;
}

void WireDriver::break_protocol(std::size_t index, std::string_view why) {
  ++stats_.protocol_errors;
  fail(index, fmt::format("not as wire/SPEC.md has it: {}", why));
}

void WireDriver::fail(std::size_t index, std::string_view why) {
  WireConnection& connection = connections_[index];
  Node& node = nodes_[connection.node()];
  const bool was_ready = connection.ready();
  connection.close();
  node.trouble = why;
  node.changed = links_changed_ = true;
  if (was_ready) {
    --node.ready;
    complete_as_lost(index);
    return;
  }
  --node.undecided;
  --undecided_;
  try_next_address(index, sink_->arrived().time());
}

void WireDriver::complete_as_lost(std::size_t index) noexcept {
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
}

// Once a poll and node: a node that ends loses all its connections at one moment, and
// that is one event.
void WireDriver::report_links() {
  links_changed_ = false;
  const load::Arrival now = sink_->arrived();
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    if (nodes_[node].changed) {
      nodes_[node].changed = false;
      report_link(node, now);
    }
  }
}

void WireDriver::report_link(std::uint32_t index, load::Arrival at) {
  Node& node = nodes_[index];
  const bool down = node.ready == 0;
  // While connections are being made only what changes for the sender is told.
  if (node.undecided > 0 && down == node.reported_down) {
    return;
  }
  node.reported_down = down;
  if (down) {
    sink_->link_down(index, at);
  } else if (node.ready == config_.connections) {
    sink_->link_up(index, at);
  } else {
    sink_->link_degraded(index, at);
  }
}

void WireDriver::reconnect(std::uint32_t node) noexcept {
  const load::TimePoint now = sink_->arrived().time();
  nodes_[node].changed = links_changed_ = true;
  const std::size_t first = std::size_t{node} * config_.connections;
  for (std::size_t i = first; i < first + config_.connections; ++i) {
    if (connections_[i].state() == State::kClosed) {
      begin(i, now);
    }
  }
}

std::string WireDriver::troubles() const {
  std::string text;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].ready < config_.connections && !nodes_[i].trouble.empty()) {
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", to_string(config_.nodes[i]),
                          nodes_[i].trouble);
    }
  }
  return text;
}

TransportStats WireDriver::transport() const {
  TransportStats stats = stats_;
  for (const Node& node : nodes_) {
    stats.connections_live += node.ready;
  }
  stats.trouble = troubles();
  return stats;
}

}  // namespace raftperf::drivers
