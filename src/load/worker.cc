// SPDX-License-Identifier: Apache-2.0
#include "load/worker.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace raftperf::load {
namespace {

// How many operations one turn hands to the driver: enough for a send to carry many,
// few enough that answers are read again within microseconds.
constexpr std::size_t kBatchMax = 256;
// How many due operations one turn admits or drops, so that catching up after a pause
// does not keep the worker from reading answers.
constexpr std::size_t kAdmitMax = 1024;
constexpr Duration kRigLate = std::chrono::milliseconds{1};
constexpr Duration kBackPressureRetry = std::chrono::microseconds{20};

/// The longest latency that can occur when nothing goes wrong, doubled, since a client
/// that is stopped for a while must still find its values recorded.
Duration range_max(const WorkerOptions& options) {
  const Duration longest = options.window.end + options.drain + options.timeout;
  return std::max<Duration>(2 * longest, std::chrono::seconds{60});
}

}  // namespace

Worker::Worker(const WorkerOptions& options, const ArrivalSchedule* schedule, TimeSource& clock)
    : options_(options),
      clock_(clock),
      workload_(options.workload),
      table_(options.slots),
      leaders_(options.nodes, options.leader),
      recorder_(options.window, range_max(options)),
      window_(options.window),
      retry_links_(options.slots),
      retry_(retry_links_) {
  options_.drain = std::max(options_.drain, options_.timeout);
  batch_.reserve(kBatchMax);
  CHECK_EQ(options.mode == LoadMode::kOpen, schedule != nullptr);
  if (schedule != nullptr) {
    cursor_.emplace(*schedule, options.stripe);
  }
}

void Worker::start(TimePoint start) noexcept {
  start_ = start;
  turn_start_ = start;
}

void Worker::begin_turn(TimePoint now, Duration waited) {
  if (window_.contains(now - start_)) {
    const Duration gap = now - turn_start_ - waited;
    recorder_.turn_gap().record(gap);
    facts_.looped += now - turn_start_;
    if (turn_busy_) {
      facts_.busy += gap;
    }
  }
  turn_start_ = now;
  turn_busy_ = false;
}

std::span<const Operation> Worker::due(TimePoint now) {
  expire(now);
  if (cursor_) {
    admit_scheduled(now);
  } else {
    admit_chains(now);
  }
  return offer(now);
}

void Worker::admit_scheduled(TimePoint now) {
  for (std::size_t i = 0; i < kAdmitMax && !cursor_->done() && !stopped_; ++i) {
    if (start_ + cursor_->offset() > now) {
      return;
    }
    if (!facts_.unanswered_at_window_start && cursor_->phase() == Phase::kMeasurement) {
      note_window_start(now);
    }
    const TimePoint stamp = options_.send_stamp == SendStamp::kOperation ? clock_.now() : now;
    admit(cursor_->k(), cursor_->offset(), cursor_->first_of_burst(), stamp);
    cursor_->advance();
  }
}

void Worker::admit_chains(TimePoint now) {
  if (now < start_ || schedule_over(now)) {
    return;
  }
  for (std::size_t i = 0; i < kBatchMax && !table_.full(); ++i) {
    const TimePoint stamp = options_.send_stamp == SendStamp::kOperation ? clock_.now() : now;
    const Duration offset = stamp - start_;
    if (offset >= window_.end) {
      return;
    }
    if (!facts_.unanswered_at_window_start && window_.contains(offset)) {
      note_window_start(stamp);
    }
    const std::uint64_t k = chain_operations_++ * options_.stripe.workers + options_.stripe.worker;
    admit(k, offset, true, stamp);
  }
}

void Worker::note_window_start(TimePoint now) noexcept {
  facts_.unanswered_at_window_start = table_.size();
  // What became due in this very turn is about to be sent: that is no backlog.
  std::uint32_t unsent = 0;
  for (std::uint32_t slot = table_.unsent().front();
       slot != kNoSlot && now - table_[slot].intended_start > kRigLate;
       slot = table_.unsent().next(slot)) {
    ++unsent;
  }
  facts_.unsent_at_window_start = unsent;
}

void Worker::admit(std::uint64_t k, Duration offset, bool first_of_burst, TimePoint now) {
  turn_busy_ = true;
  Interval& interval = recorder_.interval_at(offset);
  ++interval.books.scheduled;
  const TimePoint intended = start_ + offset;
  if (table_.full()) {
    ++interval.counts.at_cap;
    ++interval.books.dropped[static_cast<std::size_t>(drop_at_cap(intended, now))];
    return;
  }
  const bool no_leader = leaders_.leader() == kNoNode;
  // With the drop policy one operation still waits: it is the probe for a leader.
  if (no_leader && options_.no_leader == NoLeaderPolicy::kDrop && table_.size() > 0) {
    ++interval.books.dropped[static_cast<std::size_t>(Drop::kNoLeader)];
    return;
  }
  const std::uint32_t index = table_.take();
  Slot& slot = table_[index];
  slot.intended_start = intended;
  slot.first_attempt = now;
  slot.deadline = now + options_.timeout;
  slot.k = k;
  slot.interval = &interval;
  ++interval.unsettled;
  if (cursor_) {
    interval.histograms.lag.record(now - intended);
    if (first_of_burst) {
      interval.histograms.burst_lag.record(now - intended);
    }
  }
}

Drop Worker::drop_at_cap(TimePoint intended, TimePoint now) const noexcept {
  if (leaders_.leader() == kNoNode) {
    return Drop::kNoLeader;
  }
  return now - intended > kRigLate ? Drop::kRigLate : Drop::kInflightCap;
}

std::span<const Operation> Worker::offer(TimePoint now) {
  batch_.clear();
  back_pressure_ = false;
  if (!something_waits()) {
    return {};
  }
  std::size_t limit = kBatchMax;
  int node = leaders_.leader();
  if (node == kNoNode) {
    node = leaders_.take_probe(now);
    limit = 1;
  }
  if (node == kNoNode) {
    return {};
  }
  ++batch_number_;
  for (const SlotList* list : {&std::as_const(retry_), &table_.unsent()}) {
    for (std::uint32_t slot = list->front(); slot != kNoSlot && batch_.size() < limit;
         slot = list->next(slot)) {
      put_in_batch(slot, node);
    }
  }
  turn_busy_ = true;
  return batch_;
}

void Worker::put_in_batch(std::uint32_t index, int node) {
  Slot& slot = table_[index];
  slot.state = Slot::State::kOffered;
  slot.node = static_cast<std::uint32_t>(node);
  ++slot.generation;
  const std::uint64_t global_slot =
      std::uint64_t{index} * options_.stripe.workers + options_.stripe.worker;
  Operation operation = workload_.operation(slot.k, global_slot, slot.last_known);
  operation.id = OperationId(index, slot.generation);
  operation.node = slot.node;
  operation.lane = cursor_ ? batch_number_ : index;
  batch_.push_back(operation);
}

void Worker::accepted(std::size_t count, TimePoint now) {
  CHECK(count <= batch_.size());
  back_pressure_ = count < batch_.size();
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    const std::uint32_t index = batch_[i].id.slot();
    Slot& slot = table_[index];
    if (i >= count) {
      slot.state = Slot::State::kWaiting;
      continue;
    }
    slot.state = Slot::State::kSent;
    ++slot.interval->counts.attempts;
    if (slot.sent_once) {
      retry_.remove(index);
      continue;
    }
    slot.first_accepted = now;
    ++slot.interval->books.sent;
    slot.interval->histograms.held.record(now - slot.first_attempt);
    table_.mark_sent(index, now + options_.timeout);
  }
}

void Worker::end_turn(TimePoint now) {
  recorder_.hand_over();
  finish_if_over(now);
  published_in_flight_.store(table_.size(), std::memory_order_relaxed);
  published_ok_.store(facts_.acknowledged, std::memory_order_relaxed);
  published_latency_ns_.store(latency_sum_ns_, std::memory_order_relaxed);
}

void Worker::expire(TimePoint now) {
  for (std::uint32_t slot = table_.sent().front(); slot != kNoSlot && table_[slot].deadline <= now;
       slot = table_.sent().front()) {
    if (table_[slot].state == Slot::State::kSent) {
      leaders_.timed_out(table_[slot].node, table_[slot].first_accepted, now);
      end_unknown(slot, Unknown::kTimeout);
    } else {
      end_waiting(slot);
    }
  }
  for (std::uint32_t slot = table_.unsent().front();
       slot != kNoSlot && table_[slot].deadline <= now; slot = table_.unsent().front()) {
    end_waiting(slot);
  }
}

bool Worker::schedule_over(TimePoint now) const noexcept {
  return stopped_ || (cursor_ ? cursor_->done() : now - start_ >= window_.end);
}

void Worker::finish_if_over(TimePoint now) {
  if (finished_ || !schedule_over(now)) {
    return;
  }
  if (drain_end_ == kNever) {
    drain_end_ = std::max(now, start_ + window_.end) + options_.drain;
  }
  // An open loop's window lasts to its end even when the last answer came before.
  const bool window_over = now - start_ >= window_.end;
  if (table_.size() == 0 && window_over) {
    finished_ = true;
    recorder_.finish();
  } else if (now >= drain_end_) {
    abandon(now);
  }
}

void Worker::stop(TimePoint now) noexcept {
  stopped_ = true;
  window_.end = std::clamp(now - start_, Duration{0}, window_.end);
  recorder_.shorten_window(window_.end);
}

void Worker::abandon(TimePoint now) {
  stop(now);
  for (std::uint32_t slot = table_.sent().front(); slot != kNoSlot; slot = table_.sent().front()) {
    if (table_[slot].state == Slot::State::kSent) {
      end_unknown(slot, Unknown::kUnanswered);
    } else {
      end_waiting(slot);
    }
  }
  while (!table_.unsent().empty()) {
    end_waiting(table_.unsent().front());
  }
  finished_ = true;
  recorder_.finish();
}

TimePoint Worker::next_wake() const noexcept {
  const bool waits = something_waits();
  TimePoint next = leaders_.next_event(waits);
  if (waits && leaders_.leader() != kNoNode) {
    // More than a batch is due, or the driver takes no more for now.
    next = std::min(next, back_pressure_ ? turn_start_ + kBackPressureRetry : turn_start_);
  }
  if (cursor_ && !cursor_->done() && !stopped_) {
    next = std::min(next, start_ + cursor_->offset());
  }
  if (!cursor_ && !table_.full() && !schedule_over(turn_start_)) {
    next = std::min(next, std::max(turn_start_, start_));
  }
  for (const std::uint32_t slot : {table_.sent().front(), table_.unsent().front()}) {
    if (slot != kNoSlot) {
      next = std::min(next, table_[slot].deadline);
    }
  }
  const TimePoint end = start_ + window_.end;
  return std::min({next, drain_end_, turn_start_ < end ? end : kNever});
}

void Worker::complete(const Completion& completion, TimePoint arrival) noexcept {
  turn_busy_ = true;
  const std::uint32_t index = table_.find_sent(completion.id);
  if (index == kNoSlot) {
    ++facts_.late_replies;
    if (completion.outcome == Outcome::kOk) {
      leaders_.answered_late(arrival);
    }
    return;
  }
  Slot& slot = table_[index];
  if (arrival < slot.first_accepted) [[unlikely]] {
    // A plug-in may stamp an answer while its submit has not returned yet.
    facts_.bad_stamps += arrival < slot.first_attempt ? 1U : 0U;
    slot.first_accepted = arrival;
  }
  switch (completion.outcome) {
    case Outcome::kOk:
      leaders_.answered(slot.node, arrival);
      end_ok(index, completion, arrival);
      return;
    case Outcome::kUnknown:
      end_unknown(index, completion.reason == Reason::kTimeout ? Unknown::kTimeout
                                                               : Unknown::kConnectionLost);
      return;
    case Outcome::kRejected:
      if (completion.reason != Reason::kNotLeader) {
        if (completion.reason == Reason::kApplyFailed) {
          leaders_.answered(slot.node, arrival);  // it came out of the log
        }
        end_rejected(index, completion.reason);
        return;
      }
      ++slot.interval->counts.redirects;
      leaders_.rejected(slot.node, completion.leader_hint, arrival);
      slot.state = Slot::State::kWaiting;
      retry_.push_back(index);
      return;
  }
}

void Worker::end_ok(std::uint32_t index, const Completion& completion, TimePoint arrival) noexcept {
  Slot& slot = table_[index];
  Interval& interval = *slot.interval;
  ++interval.books.ok;
  if (completion.reason == Reason::kMismatch) {
    ++interval.counts.mismatches;
  }
  const Duration service = arrival - slot.first_accepted;
  interval.histograms.service.record(service);
  Duration reported = service;
  if (cursor_) {
    reported = arrival - slot.intended_start;
    interval.histograms.response.record(reported);
  }
  recorder_.completed_at(arrival - start_);
  slot.last_known = completion.value;
  latency_sum_ns_ += static_cast<std::uint64_t>(reported.count());
  ++facts_.acknowledged;
  release(index);
}

void Worker::end_rejected(std::uint32_t index, Reason reason) noexcept {
  Interval& interval = *table_[index].interval;
  ++interval.books.rejected;
  ++facts_.rejected;
  ++interval.counts.rejected_by[static_cast<std::size_t>(reason)];
  release(index);
}

void Worker::end_unknown(std::uint32_t index, Unknown kind) noexcept {
  ++table_[index].interval->books.unknown[static_cast<std::size_t>(kind)];
  ++facts_.unknown;
  release(index);
}

void Worker::end_dropped(std::uint32_t index, Drop drop) noexcept {
  ++table_[index].interval->books.dropped[static_cast<std::size_t>(drop)];
  release(index);
}

void Worker::end_waiting(std::uint32_t index) noexcept {
  if (table_[index].sent_once) {
    retry_.remove(index);
    end_rejected(index, Reason::kNotLeader);
  } else {
    end_dropped(index, leaders_.leader() == kNoNode ? Drop::kNoLeader : Drop::kNotAccepted);
  }
}

void Worker::release(std::uint32_t index) noexcept {
  recorder_.settle(*table_[index].interval);
  table_.release(index);
}

}  // namespace raftperf::load
