// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "systems/libraft/server/raft_c.h"

namespace raftperf::libraft {

/// A `raft_io` with two faults of libraft 0.15 kept away from it. Sits in front of
/// the functions `send` and `start` of an initialised `raft_io`.
///
/// 1. When disk or snapshot work of a follower ends after it has left its leader,
///    libraft answers "the leader" out of a union that by then holds a candidate's or
///    a leader's fields, or nothing: `strlen` of a bad address, SIGSEGV (canonical/raft
///    #339, #350; fixed after 0.15.0). Such a message has a null address or an id that
///    no server has, since those fields are pointers: it is dropped, as if lost on the
///    network. The role alone is no criterion: a candidate must go on refusing a
///    deposed leader, or that leader never learns of the new term.
/// 2. A follower that is installing a snapshot has an empty log, and becoming a
///    candidate then corrupts its state. Its election timer is held back meanwhile.
///
/// On the loop's thread. Must outlive the `raft_io` and stay where it is.
class GuardedIo {
 public:
  GuardedIo() = default;
  GuardedIo(const GuardedIo&) = delete;
  GuardedIo& operator=(const GuardedIo&) = delete;

  /// What `raft_uv_init` fills and `raft_init` takes.
  [[nodiscard]] raft_io* get() noexcept { return &table_.io; }

  /// Puts the guard in front. REQUIRES: the table is filled; called once, before
  /// `raft_init`. Valid server ids are 1 to `server_count`.
  void install(unsigned server_count) noexcept;

  /// How many messages were dropped.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

  /// How many ticks an election was held back.
  [[nodiscard]] std::uint64_t held_back() const noexcept { return held_back_; }

 private:
  struct Table {
    raft_io io{};  // First: libraft hands us back its address.
    GuardedIo* self = nullptr;
  };

  static GuardedIo& self_of(raft_io* io) noexcept;
  static int send(raft_io* io, raft_io_send* request, const raft_message* message,
                  raft_io_send_cb sent);
  static int start(raft_io* io, unsigned msecs, raft_io_tick_cb tick, raft_io_recv_cb received);
  static void tick(raft_io* io);
  [[nodiscard]] bool is_addressed(const raft_message& message) const noexcept;

  Table table_;
  unsigned server_count_ = 0;
  decltype(raft_io::send) send_ = nullptr;
  decltype(raft_io::start) start_ = nullptr;
  raft_io_tick_cb tick_ = nullptr;
  std::uint64_t dropped_ = 0;
  std::uint64_t held_back_ = 0;
};

}  // namespace raftperf::libraft
