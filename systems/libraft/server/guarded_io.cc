// SPDX-License-Identifier: Apache-2.0
#include "systems/libraft/server/guarded_io.h"

#include <cstddef>
#include <type_traits>

#include "base/check.h"

namespace raftperf::libraft {

void GuardedIo::install(unsigned server_count) noexcept {
  static_assert(std::is_standard_layout_v<Table> && offsetof(Table, io) == 0);
  CHECK(send_ == nullptr);
  table_.self = this;
  server_count_ = server_count;
  send_ = table_.io.send;
  start_ = table_.io.start;
  table_.io.send = &GuardedIo::send;
  table_.io.start = &GuardedIo::start;
}

GuardedIo& GuardedIo::self_of(raft_io* io) noexcept { return *reinterpret_cast<Table*>(io)->self; }

bool GuardedIo::is_addressed(const raft_message& message) const noexcept {
  return message.server_address != nullptr && message.server_id >= 1 &&
         message.server_id <= server_count_;
}

int GuardedIo::send(raft_io* io, raft_io_send* request, const raft_message* message,
                    raft_io_send_cb sent) {
  GuardedIo& self = self_of(io);
  if (message->type != RAFT_IO_APPEND_ENTRIES_RESULT || self.is_addressed(*message)) {
    return self.send_(io, request, message, sent);
  }
  ++self.dropped_;
  // Success with a failed callback, not an error: on an error libraft 0.15 frees the
  // entries that it answers a second time.
  request->cb = sent;
  if (sent != nullptr) {
    sent(request, RAFT_NOCONNECTION);
  }
  return 0;
}

int GuardedIo::start(raft_io* io, unsigned msecs, raft_io_tick_cb tick_callback,
                     raft_io_recv_cb received) {
  GuardedIo& self = self_of(io);
  self.tick_ = tick_callback;
  return self.start_(io, msecs, &GuardedIo::tick, received);
}

void GuardedIo::tick(raft_io* io) {
  GuardedIo& self = self_of(io);
  auto* node = static_cast<raft*>(io->data);
  const bool installing = node->snapshot.put.data != nullptr && node->last_stored == 0;
  if (node->state == RAFT_FOLLOWER && installing) {
    node->election_timer_start = io->time(io);
    ++self.held_back_;
  }
  self.tick_(io);
}

}  // namespace raftperf::libraft
