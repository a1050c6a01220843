// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "load/arrival_schedule.h"
#include "load/in_flight_table.h"
#include "load/latency_recorder.h"
#include "load/leader_tracker.h"
#include "load/operation.h"
#include "load/time.h"
#include "load/workload.h"

namespace raftperf::load {

enum class LoadMode : std::uint8_t {
  kClosed,  ///< A reply triggers the next operation of its chain.
  kOpen,    ///< The schedule does; replies change nothing about it.
};

enum class NoLeaderPolicy : std::uint8_t {
  kHold,  ///< A due operation takes a slot and waits, its clock running.
  kDrop,  ///< It is dropped at once, which hides the outage from the latencies.
};

enum class SendStamp : std::uint8_t {
  kOperation,  ///< One clock read for the first attempt of each operation.
  kBatch,      ///< One for all that are handed to the driver together.
};

struct WorkerOptions {
  LoadMode mode = LoadMode::kOpen;
  Stripe stripe;
  std::uint32_t slots = 1;  ///< This worker's share of MAX_INFLIGHT, or of the chains.
  Window window;
  WorkloadOptions workload;
  Duration timeout = std::chrono::seconds{5};  ///< From the first actual send.
  Duration drain = std::chrono::seconds{5};    ///< Never below `timeout`.
  NoLeaderPolicy no_leader = NoLeaderPolicy::kHold;
  SendStamp send_stamp = SendStamp::kOperation;
  std::uint32_t nodes = 1;
  int leader = kNoNode;  ///< Who leads at the start, if it is known.
};

/// What one worker decides, without its thread, its driver and its clock: which
/// operations are due, which of them go out, how each ended. run/turn.h joins it with a
/// driver; on simulated time a scenario test does. All methods are for one thread but
/// those of the last section.
///
/// A turn: `begin_turn`, poll the driver (which completes through CompletionSink),
/// `take_reconnect`, `due` -> driver -> `accepted`, `end_turn`.
class Worker final {
 public:
  /// `schedule` is null in a closed loop; it must outlive the worker, as the clock must.
  Worker(const WorkerOptions& options, const ArrivalSchedule* schedule, TimeSource& clock);

  /// Everything is relative to `start` from now on.
  void start(TimePoint start) noexcept;

  /// `waited`: how long the worker waited since its last turn for an answer or for
  /// `next_wake`, on purpose, able to be woken. What is left is the turn gap.
  void begin_turn(TimePoint now, Duration waited);
  /// Operations for the driver, in order; empty if there is none. Each must be
  /// accounted for by `accepted` before the next call.
  std::span<const Operation> due(TimePoint now);
  /// The driver took the first `count` of what `due` returned.
  void accepted(std::size_t count, TimePoint now);
  void end_turn(TimePoint now);

  /// A node to connect to again now, or kNoNode.
  int take_reconnect(TimePoint now) noexcept { return leaders_.take_reconnect(now); }
  /// Someone who watches the cluster knows the leader of `term`.
  void told_leader(int node, std::uint64_t term, TimePoint now) noexcept {
    leaders_.told(node, term, now);
  }

  /// When there is something to do next, if no answer comes before.
  [[nodiscard]] TimePoint next_wake() const noexcept;
  /// Everything scheduled has been handled, and answered or given up.
  [[nodiscard]] bool finished() const noexcept { return finished_; }

  /// Schedules nothing more (the user interrupted); the window ends here.
  void stop(TimePoint now) noexcept;
  /// Ends the drain at once. What is unanswered is unknown.
  void abandon(TimePoint now);

  // The driver's reports, through CompletionSink.
  void complete(const Completion& completion, TimePoint arrival) noexcept;
  void link_up(std::uint32_t node, TimePoint now) noexcept { leaders_.link_up(node, now); }
  void link_down(std::uint32_t node, TimePoint now) noexcept { leaders_.link_down(node, now); }
  void link_degraded(std::uint32_t node, TimePoint now) noexcept {
    leaders_.link_degraded(node, now);
  }
  void bad_stamp() noexcept { ++facts_.bad_stamps; }
  [[nodiscard]] TimeSource& clock() noexcept { return clock_; }
  [[nodiscard]] TimePoint last_arrival() const noexcept { return last_arrival_; }
  void arrived(TimePoint now) noexcept { last_arrival_ = now; }

  /// What is known beside books and histograms. Whole once `finished`.
  struct Facts {
    std::uint64_t late_replies = 0;  ///< Answers after the operation's deadline.
    std::uint64_t bad_stamps = 0;    ///< Arrivals a driver dated before the send or after now.
    std::optional<std::uint32_t> unanswered_at_window_start;
    /// Due for more than 1 ms and not sent.
    std::optional<std::uint32_t> unsent_at_window_start;
    std::uint64_t acknowledged = 0;  ///< Ok in the whole run, warm-up included.
    std::uint64_t unknown = 0;       ///< Unknown in the whole run.
    std::uint64_t rejected = 0;      ///< Rejected in the whole run.
    Duration busy{0};                ///< Time of turns that had something to do, inside the window.
    Duration looped{0};              ///< Time of all turns inside the window, waits included.
  };
  [[nodiscard]] const Facts& facts() const noexcept { return facts_; }
  [[nodiscard]] Window window() const noexcept { return window_; }
  [[nodiscard]] const InFlightTable& table() const noexcept { return table_; }
  LatencyRecorder& recorder() noexcept { return recorder_; }
  [[nodiscard]] const LatencyRecorder& recorder() const noexcept { return recorder_; }

  // Readable from any thread: the state as of the worker's last turn.
  [[nodiscard]] std::uint32_t in_flight() const noexcept {
    return published_in_flight_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t completed() const noexcept {
    return published_ok_.load(std::memory_order_relaxed);
  }
  /// Sum of the reported latency of all completed operations, in ns.
  [[nodiscard]] std::uint64_t latency_sum_ns() const noexcept {
    return published_latency_ns_.load(std::memory_order_relaxed);
  }

 private:
  void admit_scheduled(TimePoint now);
  void admit_chains(TimePoint now);
  void admit(std::uint64_t k, Duration offset, bool first_of_burst, TimePoint now);
  [[nodiscard]] Drop drop_at_cap(TimePoint intended, TimePoint now) const noexcept;
  void note_window_start(TimePoint now) noexcept;
  std::span<const Operation> offer(TimePoint now);
  void put_in_batch(std::uint32_t slot, int node);
  void expire(TimePoint now);
  void finish_if_over(TimePoint now);
  [[nodiscard]] bool schedule_over(TimePoint now) const noexcept;
  [[nodiscard]] bool something_waits() const noexcept {
    return !retry_.empty() || !table_.unsent().empty();
  }

  // The four ways an operation can end. Each frees its slot.
  void end_ok(std::uint32_t slot, const Completion& completion, TimePoint arrival) noexcept;
  void end_rejected(std::uint32_t slot, Reason reason) noexcept;
  void end_unknown(std::uint32_t slot, Unknown kind) noexcept;
  void end_dropped(std::uint32_t slot, Drop drop) noexcept;
  void end_waiting(std::uint32_t slot) noexcept;
  void release(std::uint32_t slot) noexcept;

  WorkerOptions options_;
  TimeSource& clock_;
  Workload workload_;
  InFlightTable table_;
  LeaderTracker leaders_;
  LatencyRecorder recorder_;
  std::optional<ScheduleCursor> cursor_;  ///< None in a closed loop.
  Window window_;

  std::vector<SlotLink> retry_links_;
  SlotList retry_;  ///< Rejected and to be sent again; go before the table's unsent.
  std::vector<Operation> batch_;
  std::uint32_t batch_number_ = 0;
  bool back_pressure_ = false;  ///< The driver did not take all of the last batch.

  TimePoint start_;
  std::uint64_t chain_operations_ = 0;  ///< Operations begun in a closed loop.
  bool stopped_ = false;
  bool finished_ = false;
  TimePoint drain_end_ = kNever;
  TimePoint last_arrival_;
  TimePoint turn_start_;
  bool turn_busy_ = false;
  Facts facts_;
  std::uint64_t latency_sum_ns_ = 0;

  std::atomic<std::uint32_t> published_in_flight_{0};
  std::atomic<std::uint64_t> published_ok_{0};
  std::atomic<std::uint64_t> published_latency_ns_{0};
};

}  // namespace raftperf::load
