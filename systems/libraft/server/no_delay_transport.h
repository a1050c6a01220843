// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "systems/libraft/server/raft_c.h"

namespace raftperf::libraft {

/// libraft's TCP transport with TCP_NODELAY on every connection, in both directions.
///
/// libraft 0.15 never sets it: an AppendEntries or its result then waits up to 40 ms
/// for a delayed ACK. The library takes a transport as a table of functions, so this
/// one keeps its own and sits in front of `connect` and `listen`.
///
/// One per loop, on the loop's thread. Must stay where it is and outlive the
/// `raft_io` that uses it; close it after `raft_close` has called back.
class NoDelayTransport {
 public:
  /// Told of each connection, once TCP_NODELAY has been read back from it. `peer` is
  /// the raft id that an accepted connection claims, or that was connected to.
  using Observer = void (*)(void* context, raft_id peer, bool no_delay);

  /// REQUIRES: `raft_uv_tcp_init` succeeds (it only allocates).
  explicit NoDelayTransport(uv_loop_t* loop);
  ~NoDelayTransport();
  NoDelayTransport(const NoDelayTransport&) = delete;
  NoDelayTransport& operator=(const NoDelayTransport&) = delete;

  void observe(Observer observer, void* context) noexcept;

  /// What `raft_uv_init` takes.
  [[nodiscard]] raft_uv_transport* get() noexcept { return &table_.transport; }

 private:
  struct Table {
    raft_uv_transport transport{};  // First: libraft hands us back its address.
    NoDelayTransport* self = nullptr;
  };
  struct Connecting;

  static NoDelayTransport& self_of(raft_uv_transport* transport) noexcept;
  static int listen(raft_uv_transport* transport, raft_uv_accept_cb accept);
  static void accepted(raft_uv_transport* transport, raft_id id, const char* address,
                       uv_stream_t* stream);
  static int connect(raft_uv_transport* transport, raft_uv_connect* request, raft_id id,
                     const char* address, raft_uv_connect_cb connected);
  static void connected(raft_uv_connect* request, uv_stream_t* stream, int status);
  void prepare(uv_stream_t* stream, raft_id peer) noexcept;

  Table table_;
  decltype(raft_uv_transport::listen) tcp_listen_ = nullptr;
  decltype(raft_uv_transport::connect) tcp_connect_ = nullptr;
  raft_uv_accept_cb accept_ = nullptr;
  Observer observer_ = nullptr;
  void* observer_context_ = nullptr;
};

/// Whether TCP_NODELAY is set on a connected handle, read back from the kernel.
[[nodiscard]] bool has_no_delay(uv_stream_t* stream) noexcept;

}  // namespace raftperf::libraft
