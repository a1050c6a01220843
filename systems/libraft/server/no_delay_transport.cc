// SPDX-License-Identifier: Apache-2.0
#include "systems/libraft/server/no_delay_transport.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstddef>
#include <memory>
#include <type_traits>

#include "base/check.h"

namespace raftperf::libraft {

/// The request that libraft gave us, and the one that we give to its transport:
/// `raft_uv_connect` has no other room for the two.
struct NoDelayTransport::Connecting {
  raft_uv_connect own{};  // First: the callback gets its address.
  raft_uv_connect* theirs = nullptr;
  raft_uv_connect_cb connected = nullptr;
  NoDelayTransport* transport = nullptr;
  raft_id peer = 0;
};

NoDelayTransport::NoDelayTransport(uv_loop_t* loop) {
  static_assert(std::is_standard_layout_v<Table> && offsetof(Table, transport) == 0);
  static_assert(std::is_standard_layout_v<Connecting> && offsetof(Connecting, own) == 0);
  CHECK_EQ(raft_uv_tcp_init(&table_.transport, loop), 0);
  table_.self = this;
  tcp_listen_ = table_.transport.listen;
  tcp_connect_ = table_.transport.connect;
  table_.transport.listen = &NoDelayTransport::listen;
  table_.transport.connect = &NoDelayTransport::connect;
}

NoDelayTransport::~NoDelayTransport() { raft_uv_tcp_close(&table_.transport); }

void NoDelayTransport::observe(Observer observer, void* context) noexcept {
  observer_ = observer;
  observer_context_ = context;
}

NoDelayTransport& NoDelayTransport::self_of(raft_uv_transport* transport) noexcept {
  return *reinterpret_cast<Table*>(transport)->self;
}

int NoDelayTransport::listen(raft_uv_transport* transport, raft_uv_accept_cb accept) {
  NoDelayTransport& self = self_of(transport);
  self.accept_ = accept;
  return self.tcp_listen_(transport, &NoDelayTransport::accepted);
}

void NoDelayTransport::accepted(raft_uv_transport* transport, raft_id id, const char* address,
                                uv_stream_t* stream) {
  NoDelayTransport& self = self_of(transport);
  self.prepare(stream, id);
  self.accept_(transport, id, address, stream);
}

int NoDelayTransport::connect(raft_uv_transport* transport, raft_uv_connect* request, raft_id id,
                              const char* address, raft_uv_connect_cb connected_callback) {
  NoDelayTransport& self = self_of(transport);
  auto connecting = std::make_unique<Connecting>();
  connecting->theirs = request;
  connecting->connected = connected_callback;
  connecting->transport = &self;
  connecting->peer = id;
  const int code =
      self.tcp_connect_(transport, &connecting->own, id, address, &NoDelayTransport::connected);
  if (code == 0) {
    (void)connecting.release();  // `connected` takes it back; libraft always calls it.
  }
  return code;
}

void NoDelayTransport::connected(raft_uv_connect* request, uv_stream_t* stream, int status) {
  const std::unique_ptr<Connecting> connecting(reinterpret_cast<Connecting*>(request));
  if (status == 0) {
    connecting->transport->prepare(stream, connecting->peer);
  }
  connecting->connected(connecting->theirs, stream, status);
}

void NoDelayTransport::prepare(uv_stream_t* stream, raft_id peer) noexcept {
  (void)uv_tcp_nodelay(reinterpret_cast<uv_tcp_t*>(stream), 1);
  if (observer_ != nullptr) {
    observer_(observer_context_, peer, has_no_delay(stream));
  }
}

bool has_no_delay(uv_stream_t* stream) noexcept {
  uv_os_fd_t fd = -1;
  if (uv_fileno(reinterpret_cast<uv_handle_t*>(stream), &fd) != 0) {
    return false;
  }
  int on = 0;
  socklen_t length = sizeof on;
  return ::getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &length) == 0 && on != 0;
}

}  // namespace raftperf::libraft
