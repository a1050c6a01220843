// SPDX-License-Identifier: Apache-2.0
#include "systems/libraft/server/clients.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "net/socket.h"

namespace raftperf::libraft {
namespace {

constexpr std::size_t kReadBufferSize = wire::kFrameSizeMax + (256U << 10U);
constexpr std::size_t kDescriptorsForRaft = 64;
constexpr std::size_t kConnectionsMin = 4;
constexpr std::size_t kConnectionsMax = 65536;

std::size_t connections_max() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return kConnectionsMin;
  }
  const auto descriptors = static_cast<std::size_t>(limit.rlim_cur);
  const std::size_t left = descriptors - std::min(descriptors, kDescriptorsForRaft);
  return std::clamp(left, kConnectionsMin, kConnectionsMax);
}

}  // namespace

Clients::Clients(uv_loop_t* loop, const Connection::Settings& settings, const Events& events,
                 Owner& owner)
    : loop_(loop),
      settings_(settings),
      events_(events),
      owner_(owner),
      connections_max_(connections_max()),
      read_buffer_(kReadBufferSize) {}

Clients::~Clients() { CHECK_EQ(count_, 0U); }

Result<void> Clients::listen(const net::Endpoint& endpoint) {
  auto fd = net::listen_on(endpoint.host, endpoint.port);
  if (!fd) {
    return Error{fmt::format("--listen: {}", fd.error())};
  }
  port_ = net::bound_port(fd->get());
  CHECK_EQ(uv_tcp_init(loop_, &listener_), 0);
  listening_ = true;
  listener_.data = this;
  int code = uv_tcp_open(&listener_, fd->get());
  if (code == 0) {
    (void)fd->release();
    code = uv_listen(reinterpret_cast<uv_stream_t*>(&listener_), 1024,
                     [](uv_stream_t* stream, int status) {
                       static_cast<Clients*>(stream->data)->accept(status);
                     });
  }
  if (code != 0) {
    return Error{fmt::format("--listen: {}: {}", net::to_string(endpoint), uv_strerror(code))};
  }
  return {};
}

void Clients::accept(int status) {
  if (status != 0) {
    return;  // libuv has taken the connection off the queue and closed it.
  }
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t index = free_slots_.back();
  free_slots_.pop_back();
  Slot& slot = slots_[index];
  const ConnectionId id{.slot = index, .generation = ++slot.generation};
  slot.connection =
      std::make_unique<Connection>(loop_, id, settings_, static_cast<Connection::Owner&>(*this));
  ++count_;
  slot.connection->accept(reinterpret_cast<uv_stream_t*>(&listener_));
  if (count_ > connections_max_) {
    slot.connection->close();
    if (!std::exchange(refused_said_, true)) {
      events_.emit("connections_refused", {{"connections_max", connections_max_}});
    }
  }
}

Connection* Clients::find(ConnectionId id) noexcept {
  if (id.slot >= slots_.size()) {
    return nullptr;
  }
  const Slot& slot = slots_[id.slot];
  const bool alive = slot.connection != nullptr && slot.generation == id.generation &&
                     !slot.connection->is_closing();
  return alive ? slot.connection.get() : nullptr;
}

void Clients::flush() {
  // Flushing may read on (a paused client), which writes again: those go next.
  while (!dirty_.empty()) {
    flushing_.swap(dirty_);
    for (const ConnectionId id : flushing_) {
      if (Connection* connection = find(id); connection != nullptr) {
        connection->flush();
      }
    }
    flushing_.clear();
  }
}

void Clients::stop_accepting() {
  if (std::exchange(stopped_, true)) {
    return;
  }
  if (!listening_) {
    return;
  }
  uv_close(reinterpret_cast<uv_handle_t*>(&listener_), [](uv_handle_t* handle) {
    auto* self = static_cast<Clients*>(handle->data);
    self->listening_ = false;
    self->maybe_all_closed();
  });
}

void Clients::finish() {
  for (Slot& slot : slots_) {
    if (slot.connection != nullptr) {
      slot.connection->finish();
    }
  }
}

void Clients::close() {
  for (Slot& slot : slots_) {
    if (slot.connection != nullptr) {
      slot.connection->close();
    }
  }
}

void Clients::maybe_all_closed() {
  if (is_closed()) {
    owner_.all_closed();
  }
}

void Clients::request(Connection& from, const wire::Frame& request) {
  owner_.request(from, request);
}

void Clients::malformed(const Connection& from, std::string_view reason) {
  events_.emit("malformed", {{"connection", from.id().slot}, {"reason", reason}});
}

void Clients::dirty(const Connection& connection) { dirty_.push_back(connection.id()); }

void Clients::closed(const Connection& connection) {
  const std::uint32_t index = connection.id().slot;
  slots_[index].connection.reset();
  free_slots_.push_back(index);
  --count_;
  maybe_all_closed();
}

}  // namespace raftperf::libraft
