// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "systems/libraft/server/entry.h"
#include "systems/libraft/server/raft_c.h"
#include "systems/libraft/server/state_machine.h"
#include "wire/cpp/frame.h"
#include "wire/cpp/reply.h"

namespace raftperf::libraft {

/// A client connection by slot and generation, so that the answer to a connection
/// that has gone is never given to the next one in its slot.
struct ConnectionId {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;

  friend bool operator==(const ConnectionId&, const ConnectionId&) = default;
};

/// A request that waits for its answer.
struct Ticket {
  ConnectionId connection;
  wire::ReplyTo to;
  std::uint64_t key = 0;          ///< get only.
  std::uint32_t entry_bytes = 0;  ///< What it holds in memory until it is applied.
};

/// Where the answers go. For every ticket exactly one of these is called, once.
class Answers {
 public:
  virtual ~Answers() = default;
  virtual void value(const Ticket& ticket, std::uint64_t value) = 0;
  virtual void mismatch(const Ticket& ticket, std::uint64_t value) = 0;
  virtual void not_leader(const Ticket& ticket) = 0;
  virtual void failed(const Ticket& ticket, std::string_view text) = 0;
  /// It may be applied or not: no reply may be sent (wire/SPEC.md section 4).
  virtual void abandoned(const Ticket& ticket) = 0;
};

/// Appends to the log; `RaftNode` in the server, a fake in tests.
class Log {
 public:
  virtual ~Log() = default;
  /// Proposes the entries, in order, in one call. On 0 the buffers belong to the log,
  /// on an error (a RAFT_ code) none of them will ever be applied.
  virtual int propose(std::span<const raft_buffer> entries) = 0;
};

/// The requests between their arrival and their answer.
///
/// A batch collects what arrives in one turn of the loop and is proposed at once; the
/// proposed wait in the order of the log and are answered by the entries that the
/// state machine applies. A sequence number names each; those of one process form one
/// unbroken row in the log, so an applied entry is found without a search.
///
/// Reads are linearizable through the log: one entry per turn, proposed in the same
/// call as the turn's writes, answers all the turn's reads. That costs no message and
/// no disk write of its own beside writes (raft_barrier would cost both).
///
/// One thread. Bounded in requests and bytes; allocates an entry per write, which
/// libraft asks for, and nothing else in the steady state.
class Proposals {
 public:
  struct Limits {
    std::size_t pending_max = 65536;                ///< Requests without an answer.
    std::size_t pending_bytes_max = 256ULL << 20U;  ///< Their entries.
    std::size_t batch_max = 4096;                   ///< Entries in one call.
    std::size_t batch_bytes_max = 4ULL << 20U;      ///< Bytes in one call.
  };
  struct Origin {
    std::uint16_t server = 0;
    std::uint64_t incarnation = 0;
  };

  Proposals(const Limits& limits, const Origin& origin, Answers& answers);
  ~Proposals();
  Proposals(const Proposals&) = delete;
  Proposals& operator=(const Proposals&) = delete;

  /// Whether a request with this body must be refused as busy.
  [[nodiscard]] bool is_full(std::size_t body_length) const noexcept;

  /// Takes an append, a compare_and_set or a get into the batch. False: out of memory,
  /// and nothing was taken. REQUIRES: !is_full.
  [[nodiscard]] bool take(const wire::Frame& request, ConnectionId from);

  /// Whether the batch should be proposed before the turn ends.
  [[nodiscard]] bool batch_is_full() const noexcept {
    return entries_.size() >= limits_.batch_max || batch_bytes_ >= limits_.batch_bytes_max ||
           reads_.size() >= limits_.batch_max;
  }

  /// Proposes the batch. A refusal is answered: it certainly was not applied.
  void flush(Log& log);

  /// An entry has been applied on this node; answers what waits for it, if it is ours.
  void applied(const Applied& applied, std::uint64_t log_index, const StateMachine& state);

  /// Leadership is lost: gives up every proposed request. The batch is not touched.
  void abandon();

  /// Requests without an answer, in the batch or proposed.
  [[nodiscard]] std::size_t pending() const noexcept {
    return proposed() + batch_.size() + reads_.size();
  }
  [[nodiscard]] std::size_t proposed() const noexcept {
    return static_cast<std::size_t>(next_sequence_ - first_sequence_);
  }

 private:
  bool add_entry(EntryKind kind, std::span<const std::byte> body, std::uint64_t sequence);
  bool seal_reads();
  void refuse_batch(int code);
  void free_entries() noexcept;
  Ticket& at(std::uint64_t sequence) noexcept { return ring_[sequence & ring_mask_]; }
  Ticket pop() noexcept;

  Limits limits_;
  Origin origin_;
  Answers& answers_;

  std::vector<raft_buffer> entries_;  ///< The batch; owned until it is proposed.
  std::vector<Ticket> batch_;         ///< One for each entry.
  std::vector<Ticket> reads_;
  std::size_t batch_bytes_ = 0;

  std::vector<Ticket> ring_;  ///< Proposed: sequences [first_sequence_, next_sequence_).
  std::uint64_t ring_mask_ = 0;
  std::uint64_t first_sequence_ = 0;
  std::uint64_t next_sequence_ = 0;
  std::size_t pending_bytes_ = 0;
};

}  // namespace raftperf::libraft
