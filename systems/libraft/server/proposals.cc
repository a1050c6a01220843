// SPDX-License-Identifier: Apache-2.0
#include "systems/libraft/server/proposals.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/check.h"

namespace raftperf::libraft {

Proposals::Proposals(const Limits& limits, const Origin& origin, Answers& answers)
    : limits_(limits), origin_(origin), answers_(answers) {
  CHECK(limits.pending_max > 0 && limits.batch_max > 0);
  ring_.resize(std::bit_ceil(limits.pending_max));
  ring_mask_ = ring_.size() - 1;
}

Proposals::~Proposals() { free_entries(); }

bool Proposals::is_full(std::size_t body_length) const noexcept {
  return pending() >= limits_.pending_max ||
         pending_bytes_ + entry_size(body_length) > limits_.pending_bytes_max;
}

bool Proposals::take(const wire::Frame& request, ConnectionId from) {
  Ticket ticket{.connection = from, .to = wire::reply_to(request)};
  if (request.kind == wire::Kind::kGet) {
    ticket.key = wire::load<std::uint64_t>(request.body.data());
    reads_.push_back(ticket);
    return true;
  }
  const EntryKind kind =
      request.kind == wire::Kind::kAppend ? EntryKind::kAppend : EntryKind::kCompareAndSet;
  if (!add_entry(kind, request.body, next_sequence_ + batch_.size())) {
    return false;
  }
  ticket.entry_bytes = static_cast<std::uint32_t>(entries_.back().len);
  pending_bytes_ += ticket.entry_bytes;
  batch_.push_back(ticket);
  return true;
}

bool Proposals::add_entry(EntryKind kind, std::span<const std::byte> body, std::uint64_t sequence) {
  const std::size_t size = entry_size(body.size());
  void* memory = raft_malloc(size);
  if (memory == nullptr) {
    return false;
  }
  const EntryTag tag{
      .incarnation = origin_.incarnation, .sequence = sequence, .server = origin_.server};
  put(static_cast<std::byte*>(memory), Entry{.kind = kind, .tag = tag, .body = body});
  entries_.push_back({.base = memory, .len = size});
  batch_bytes_ += size;
  return true;
}

bool Proposals::seal_reads() {
  if (reads_.empty()) {
    return true;
  }
  std::array<std::byte, sizeof(std::uint64_t)> count{};
  wire::store<std::uint64_t>(count.data(), reads_.size());
  return add_entry(EntryKind::kRead, count, next_sequence_ + batch_.size());
}

void Proposals::flush(Log& log) {
  if (batch_.empty() && reads_.empty()) {
    return;
  }
  const bool sealed = seal_reads();
  batch_.insert(batch_.end(), reads_.begin(), reads_.end());
  reads_.clear();
  // In the ring before the call: libraft may apply within it.
  const std::uint64_t first = next_sequence_;
  for (const Ticket& ticket : batch_) {
    at(next_sequence_++) = ticket;
  }
  const int code = sealed ? log.propose(entries_) : RAFT_NOMEM;
  if (code == 0) {
    entries_.clear();
    batch_.clear();
    batch_bytes_ = 0;
    return;
  }
  // None of these entries is in the log, so their sequences are free to be used again.
  CHECK(first_sequence_ <= first);
  next_sequence_ = first;
  refuse_batch(code);
}

void Proposals::refuse_batch(int code) {
  free_entries();
  batch_bytes_ = 0;
  for (const Ticket& ticket : batch_) {
    pending_bytes_ -= ticket.entry_bytes;
    if (code == RAFT_NOTLEADER) {
      answers_.not_leader(ticket);
    } else {
      answers_.failed(ticket, raft_strerror(code));
    }
  }
  batch_.clear();
}

void Proposals::applied(const Applied& applied, std::uint64_t log_index,
                        const StateMachine& state) {
  const std::uint64_t sequence = applied.tag.sequence;
  const bool ours =
      applied.tag.server == origin_.server && applied.tag.incarnation == origin_.incarnation;
  // Below the first: proposed in an earlier leadership, and given up when it ended.
  if (!ours || sequence < first_sequence_ || sequence >= next_sequence_) {
    return;
  }
  while (first_sequence_ < sequence) {
    answers_.abandoned(pop());
  }
  if (applied.kind == EntryKind::kRead) {
    const std::uint64_t end = std::min(sequence + applied.value, next_sequence_);
    while (first_sequence_ < end) {
      const Ticket ticket = pop();
      answers_.value(ticket, state.get(ticket.key));
    }
    return;
  }
  const Ticket ticket = pop();
  if (!applied.matched) {
    answers_.mismatch(ticket, applied.value);
  } else {
    answers_.value(ticket, applied.kind == EntryKind::kAppend ? log_index : applied.value);
  }
}

void Proposals::abandon() {
  while (first_sequence_ < next_sequence_) {
    answers_.abandoned(pop());
  }
}

Ticket Proposals::pop() noexcept {
  const Ticket ticket = at(first_sequence_++);
  pending_bytes_ -= ticket.entry_bytes;
  return ticket;
}

void Proposals::free_entries() noexcept {
  for (const raft_buffer& entry : entries_) {
    raft_free(entry.base);
  }
  entries_.clear();
}

}  // namespace raftperf::libraft
