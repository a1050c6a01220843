// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "systems/libraft/server/data_directory.h"
#include "systems/libraft/server/events.h"
#include "systems/libraft/server/guarded_io.h"
#include "systems/libraft/server/no_delay_transport.h"
#include "systems/libraft/server/options.h"
#include "systems/libraft/server/proposals.h"
#include "systems/libraft/server/raft_c.h"
#include "systems/libraft/server/state_machine.h"
#include "wire/cpp/frame.h"

namespace raftperf::libraft {

/// One Raft server: libraft, its transport and log, and the replicated state.
///
/// Everything happens on the loop's thread. A node is named here by its index from 0,
/// in libraft by that plus 1.
class RaftNode final : public Log {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    /// An entry was applied; in the order of the log.
    virtual void applied(const Applied& applied, std::uint64_t log_index) = 0;
    /// What was proposed and not yet applied may never be. May come more than once.
    virtual void leadership_lost() = 0;
    virtual void closed() = 0;
  };

  RaftNode(uv_loop_t* loop, const Options& options, const Events& events, Owner& owner);
  ~RaftNode() override;

  /// Loads the directory, listens for the peers, and takes part from then on.
  /// Whatever comes of it, `close` must be called before destruction.
  Result<void> start(const DataDirectory& directory);

  /// Ends it; `Owner::closed` follows, from the loop, or at once if nothing is open.
  void close();

  int propose(std::span<const raft_buffer> entries) override;

  /// Starts to hand leadership to a node. 0, or RAFT_NOTLEADER, RAFT_BADID, RAFT_BUSY.
  int transfer(std::int32_t to);

  /// To be called once a turn: says on stderr what changed, appends a barrier when
  /// this node has become leader (libraft appends no entry of the new term by itself,
  /// and what older terms left would stay uncommitted until the first write).
  void watch();

  /// Whether it can take proposals now.
  [[nodiscard]] bool is_leader() const noexcept;

  /// Who is believed to lead, or is about to after a transfer; kNoNode if unknown.
  [[nodiscard]] std::int32_t leader() const noexcept;

  [[nodiscard]] wire::NodeStatus status() const noexcept;
  [[nodiscard]] const StateMachine& state() const noexcept { return state_; }

  /// Why this node can no longer work (a disk error, a foreign entry), if it cannot.
  [[nodiscard]] const std::optional<std::string>& failure() const noexcept { return failure_; }

 private:
  struct ApplyRequest;
  struct BarrierRequest;
  struct Seen {
    int role = -1;
    std::uint64_t term = 0;
    std::int32_t leader = wire::kNoNode;
    friend bool operator==(const Seen&, const Seen&) = default;
  };

  Result<void> open(const DataDirectory& directory);
  Result<void> bootstrap(const DataDirectory& directory);
  Result<void> check_configuration(const DataDirectory& directory) const;
  Error error_of(const char* what, int code) const;
  void add_barrier();
  void fail(std::string why);

  int apply_entry(const raft_buffer& entry);
  int take_snapshot(raft_buffer** buffers, unsigned* count);
  int restore_snapshot(raft_buffer& buffer);
  void proposal_done(ApplyRequest* request, int status);

  const Options& options_;
  const Events& events_;
  Owner& owner_;
  uv_loop_t* loop_;
  NoDelayTransport transport_;
  GuardedIo io_;
  raft_fsm fsm_{};
  raft raft_{};
  struct raft_transfer transfer_ {};
  StateMachine state_;

  bool io_open_ = false;
  bool raft_open_ = false;
  bool started_ = false;
  bool closing_ = false;
  Seen seen_;
  std::uint64_t barrier_term_ = 0;
  std::uint64_t dropped_seen_ = 0;
  std::uint64_t snapshots_ = 0;
  std::uint64_t snapshot_said_ms_ = 0;
  std::optional<std::string> failure_;
  std::vector<std::unique_ptr<ApplyRequest>> idle_requests_;
};

}  // namespace raftperf::libraft
