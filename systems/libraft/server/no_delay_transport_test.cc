// SPDX-License-Identifier: Apache-2.0
#include "systems/libraft/server/no_delay_transport.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "net/socket.h"

namespace raftperf::libraft {
namespace {

std::string free_address() {
  const auto fd = net::listen_on("127.0.0.1", 0);
  return fmt::format("127.0.0.1:{}", net::bound_port(fd->get()));
}

/// Two raft transports on one loop, connected over loopback.
class NoDelayTransportTest : public ::testing::Test {
 protected:
  NoDelayTransportTest() {
    EXPECT_EQ(uv_loop_init(&loop), 0);
    for (auto* transport : {&listening, &connecting}) {
      *transport = std::make_unique<NoDelayTransport>(&loop);
      (*transport)->get()->data = this;
    }
    EXPECT_EQ(listening->get()->init(listening->get(), 1, address.c_str()), 0);
    EXPECT_EQ(connecting->get()->init(connecting->get(), 2, other_address.c_str()), 0);
  }

  ~NoDelayTransportTest() override {
    for (uv_stream_t* stream : streams) {
      uv_close(reinterpret_cast<uv_handle_t*>(stream),
               [](uv_handle_t* handle) { raft_free(handle); });
    }
    for (auto* transport : {&listening, &connecting}) {
      (*transport)->get()->close((*transport)->get(), [](raft_uv_transport*) {});
    }
    EXPECT_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
    listening.reset();
    connecting.reset();
    EXPECT_EQ(uv_loop_close(&loop), 0);
  }

  void listen() {
    EXPECT_EQ(listening->get()->listen(
                  listening->get(),
                  [](raft_uv_transport* transport, raft_id id, const char*, uv_stream_t* stream) {
                    auto* self = static_cast<NoDelayTransportTest*>(transport->data);
                    self->accepted_id = id;
                    self->accepted_no_delay = has_no_delay(stream);
                    self->streams.push_back(stream);
                  }),
              0);
  }

  void connect() {
    request.data = this;
    EXPECT_EQ(
        connecting->get()->connect(connecting->get(), &request, 1, address.c_str(),
                                   [](raft_uv_connect* done, uv_stream_t* stream, int status) {
                                     auto* self = static_cast<NoDelayTransportTest*>(done->data);
                                     self->connect_done = true;
                                     self->connect_status = status;
                                     if (status == 0) {
                                       self->connected_no_delay = has_no_delay(stream);
                                       self->streams.push_back(stream);
                                     }
                                   }),
        0);
  }

  uv_loop_t loop{};
  std::string address = free_address();
  std::string other_address = free_address();
  std::unique_ptr<NoDelayTransport> listening;
  std::unique_ptr<NoDelayTransport> connecting;
  raft_uv_connect request{};
  std::vector<uv_stream_t*> streams;
  raft_id accepted_id = 0;
  bool accepted_no_delay = false;
  bool connected_no_delay = false;
  bool connect_done = false;
  int connect_status = 0;
};

TEST_F(NoDelayTransportTest, BothSidesOfAConnectionHaveIt) {
  std::vector<std::pair<raft_id, bool>> observed;
  for (auto* transport : {&listening, &connecting}) {
    (*transport)
        ->observe(
            [](void* context, raft_id peer, bool no_delay) {
              static_cast<std::vector<std::pair<raft_id, bool>>*>(context)->emplace_back(peer,
                                                                                         no_delay);
            },
            &observed);
  }
  listen();
  connect();
  while (streams.size() < 2) {
    ASSERT_NE(uv_run(&loop, UV_RUN_ONCE), 0);
  }
  EXPECT_EQ(connect_status, 0);
  EXPECT_EQ(accepted_id, 2U);
  EXPECT_TRUE(accepted_no_delay);
  EXPECT_TRUE(connected_no_delay);
  EXPECT_EQ(observed.size(), 2U);
  for (const auto& [peer, no_delay] : observed) {
    EXPECT_TRUE(peer == 1 || peer == 2);
    EXPECT_TRUE(no_delay);
  }
}

TEST_F(NoDelayTransportTest, ARefusedConnectionIsReportedAndLeaksNothing) {
  connect();  // Nobody listens.
  while (uv_run(&loop, UV_RUN_ONCE) != 0 && !connect_done) {
  }
  EXPECT_TRUE(connect_done);
  EXPECT_EQ(connect_status, RAFT_NOCONNECTION);
  EXPECT_TRUE(streams.empty());
}

TEST_F(NoDelayTransportTest, AConnectionUnderWayIsCancelledByClosing) {
  listen();
  connect();
}

TEST_F(NoDelayTransportTest, AnImpossibleAddressIsRefusedAtOnce) {
  request.data = this;
  EXPECT_NE(connecting->get()->connect(connecting->get(), &request, 1, "no-such-host:1",
                                       [](raft_uv_connect*, uv_stream_t*, int) { FAIL(); }),
            0);
}

}  // namespace
}  // namespace raftperf::libraft
