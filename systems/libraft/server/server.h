// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <uv.h>

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "systems/libraft/server/clients.h"
#include "systems/libraft/server/data_directory.h"
#include "systems/libraft/server/events.h"
#include "systems/libraft/server/options.h"
#include "systems/libraft/server/proposals.h"
#include "systems/libraft/server/raft_node.h"

namespace raftperf::libraft {

/// One node from start to stop: clients in front, Raft behind, one loop, one thread
/// (libuv's pool writes the log's files).
///
/// A turn of the loop: what clients and peers sent is read; then the turn's requests
/// are proposed in one call; then the turn's replies leave, one write a connection.
class Server final : private Clients::Owner, private Answers, private RaftNode::Owner {
 public:
  Server(uv_loop_t* loop, const Options& options, const DataDirectory& directory,
         const Events& events);
  ~Server() override;

  /// Serves until SIGTERM or SIGINT, or until the node fails. Returns the process's
  /// exit status; what was wrong has been said on stderr by then.
  int run();

 private:
  enum class Stage : std::uint8_t {
    kServing,
    kDraining,  ///< Nothing new is accepted; what was is answered.
    kClosing,   ///< Connections are closing, then Raft.
    kClosed,
  };

  Result<void> start();
  void say_ready() const;
  void install_handles();
  void turn();
  void start_timer(std::uint64_t timeout_ms);
  void begin_drain(int signal);
  void drain();
  void begin_close();
  void close_handles();
  void time_out();

  void request(Connection& from, const wire::Frame& request) override;
  void all_closed() override;
  void propose(Connection& from, const wire::Frame& request);
  void transfer(Connection& from, const wire::Frame& request);

  void value(const Ticket& ticket, std::uint64_t value) override;
  void mismatch(const Ticket& ticket, std::uint64_t value) override;
  void not_leader(const Ticket& ticket) override;
  void failed(const Ticket& ticket, std::string_view text) override;
  void abandoned(const Ticket& ticket) override;
  Connection* answer_to(const Ticket& ticket) noexcept;

  void applied(const Applied& applied, std::uint64_t log_index) override;
  void leadership_lost() override;
  void closed() override;

  [[nodiscard]] std::int32_t hint() const noexcept;

  uv_loop_t* loop_;
  const Options& options_;
  const DataDirectory& directory_;
  const Events& events_;
  RaftNode node_;
  Clients clients_;
  Proposals proposals_;
  Stage stage_ = Stage::kServing;
  int exit_status_ = 0;
  bool finishing_ = false;

  uv_prepare_t prepare_{};
  uv_check_t check_{};
  uv_timer_t timer_{};
  uv_signal_t sigterm_{};
  uv_signal_t sigint_{};
};

}  // namespace raftperf::libraft
