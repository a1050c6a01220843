// SPDX-License-Identifier: Apache-2.0
#include "systems/libraft/server/guarded_io.h"

#include <gtest/gtest.h>

#include <cstring>

namespace raftperf::libraft {
namespace {

/// A `raft_io` that does what libraft's does with a message as far as it can crash:
/// it reads the address.
struct FakeIo {
  static inline int sent = 0;
  static inline std::size_t address_length = 0;
  static inline raft_io_tick_cb tick = nullptr;
  static inline int ticks = 0;

  static void fill(raft_io* io) {
    sent = 0;
    ticks = 0;
    io->send = [](raft_io*, raft_io_send*, const raft_message* message, raft_io_send_cb) {
      address_length = std::strlen(message->server_address);
      ++sent;
      return 0;
    };
    io->start = [](raft_io*, unsigned, raft_io_tick_cb tick_callback, raft_io_recv_cb) {
      tick = tick_callback;
      return 0;
    };
    io->time = [](raft_io*) -> raft_time { return 4242; };
  }
};

class GuardedIoTest : public ::testing::Test {
 protected:
  GuardedIoTest() {
    FakeIo::fill(io.get());
    io.install(3);
    io.get()->data = &node;  // As raft_init does.
  }

  /// Sends as libraft does. The address is whatever stands in the union.
  int send(unsigned short type, raft_id id, const char* address) {
    raft_message message{};
    message.type = type;
    message.server_id = id;
    message.server_address = address;
    callbacks = 0;
    request.data = this;
    return io.get()->send(io.get(), &request, &message, [](raft_io_send* done, int code) {
      auto* self = static_cast<GuardedIoTest*>(done->data);
      ++self->callbacks;
      self->status = code;
    });
  }

  GuardedIo io;
  raft node{};
  raft_io_send request{};
  int callbacks = 0;
  int status = 0;
};

// What a candidate's or a leader's fields look like when they are read as an address.
const char* const kGarbage = reinterpret_cast<const char*>(0x0000000000000101);

TEST_F(GuardedIoTest, DropsAResultToALeaderThatIsNone) {
  struct Case {
    raft_id id;
    const char* address;
  };
  for (const Case& bad : {Case{0, nullptr}, Case{1, nullptr}, Case{0, kGarbage}, Case{4, kGarbage},
                          Case{0x7f0012345678, kGarbage}}) {
    const std::uint64_t before = io.dropped();
    EXPECT_EQ(send(RAFT_IO_APPEND_ENTRIES_RESULT, bad.id, bad.address), 0);
    EXPECT_EQ(io.dropped(), before + 1);
    EXPECT_EQ(callbacks, 1) << "the callback frees the request, so it must come, once";
    EXPECT_EQ(status, RAFT_NOCONNECTION);
  }
  EXPECT_EQ(FakeIo::sent, 0);
}

TEST_F(GuardedIoTest, PassesEveryProperResultWhateverTheRole) {
  for (const unsigned short role : {RAFT_FOLLOWER, RAFT_CANDIDATE, RAFT_LEADER}) {
    node.state = role;
    for (raft_id id = 1; id <= 3; ++id) {
      EXPECT_EQ(send(RAFT_IO_APPEND_ENTRIES_RESULT, id, "127.0.0.1:9200"), 0);
      EXPECT_EQ(callbacks, 0) << "libuv will call it";
    }
  }
  EXPECT_EQ(FakeIo::sent, 9);
  EXPECT_EQ(FakeIo::address_length, std::strlen("127.0.0.1:9200"));
  EXPECT_EQ(io.dropped(), 0U);
}

TEST_F(GuardedIoTest, PassesOtherMessagesUntouched) {
  for (const unsigned short type :
       {RAFT_IO_APPEND_ENTRIES, RAFT_IO_REQUEST_VOTE, RAFT_IO_REQUEST_VOTE_RESULT,
        RAFT_IO_INSTALL_SNAPSHOT, RAFT_IO_TIMEOUT_NOW}) {
    EXPECT_EQ(send(type, 9, "127.0.0.1:9200"), 0);
  }
  EXPECT_EQ(FakeIo::sent, 5);
}

TEST_F(GuardedIoTest, HoldsAnElectionBackWhileASnapshotIsInstalled) {
  ASSERT_EQ(io.get()->start(
                io.get(), 100, [](raft_io*) { ++FakeIo::ticks; }, nullptr),
            0);
  const auto tick = [this](unsigned short role, void* installing, raft_index last_stored) {
    node.state = role;
    node.snapshot.put.data = installing;
    node.last_stored = last_stored;
    node.election_timer_start = 1;
    FakeIo::tick(io.get());
    return node.election_timer_start;
  };
  EXPECT_EQ(tick(RAFT_FOLLOWER, &node, 0), 4242U) << "installing: the log is empty meanwhile";
  EXPECT_EQ(tick(RAFT_FOLLOWER, nullptr, 0), 1U) << "a new node";
  EXPECT_EQ(tick(RAFT_FOLLOWER, &node, 50), 1U) << "taking one of its own";
  EXPECT_EQ(tick(RAFT_LEADER, &node, 0), 1U);
  EXPECT_EQ(FakeIo::ticks, 4) << "libraft's own tick always runs";
  EXPECT_EQ(io.held_back(), 1U);
}

}  // namespace
}  // namespace raftperf::libraft
