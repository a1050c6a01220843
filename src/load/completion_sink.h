// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "load/worker.h"

namespace raftperf::load {

/// The instant at which an answer's bytes came in. Only the sink makes one.
class Arrival {
 public:
  [[nodiscard]] TimePoint time() const noexcept { return time_; }

 private:
  friend class CompletionSink;
  explicit Arrival(TimePoint time) noexcept : time_(time) {}
  TimePoint time_;
};

/// Sees every report as a driver makes it, before the worker books it: for the drivers'
/// conformance suite. Not for a run.
class SinkTap {
 public:
  enum class Link : std::uint8_t { kUp, kDown, kDegraded };

  virtual ~SinkTap() = default;
  virtual void completed(const Completion& completion) = 0;
  virtual void link(std::uint32_t node, Link link) = 0;
};

/// Where a driver reports answers, on the worker's thread, inside `poll()`. Final on
/// purpose: the arrival is stamped here, so that every driver is timed at the same
/// place. `leader_hint` is what a rejecting node named as leader; the rig, not the
/// driver, decides whether to follow it.
class CompletionSink final {
 public:
  explicit CompletionSink(Worker& worker, SinkTap* tap = nullptr) noexcept
      : worker_(worker), tap_(tap) {}

  /// Reads the clock once. One arrival may serve all answers of one receive.
  [[nodiscard]] Arrival arrived() noexcept {
    const TimePoint now = worker_.clock().now();
    worker_.arrived(now);
    return Arrival(now);
  }

  /// For a driver whose client library stamps arrivals in its own runtime, with the
  /// same clock. A stamp in the future is counted and makes the run INVALID.
  [[nodiscard]] Arrival arrived_at(TimePoint stamp) noexcept {
    const TimePoint now = arrived().time();
    if (stamp > now) {
      worker_.bad_stamp();
      return Arrival(now);
    }
    return Arrival(stamp);
  }

  /// Books how an attempt ended. An id whose operation is over already counts as a
  /// late reply and changes nothing else.
  void complete(const Completion& completion, Arrival arrival) noexcept {
    if (tap_ != nullptr) [[unlikely]] {
      tap_->completed(completion);
    }
    worker_.complete(completion, arrival.time());
  }

  /// All connections to a node are there.
  void link_up(std::uint32_t node, Arrival at) noexcept {
    tell_tap(node, SinkTap::Link::kUp);
    worker_.link_up(node, at.time());
  }
  /// A node cannot be sent to: its last connection was lost or could not be made. The
  /// driver completes what was outstanding there as unknown, reason lost.
  void link_down(std::uint32_t node, Arrival at) noexcept {
    tell_tap(node, SinkTap::Link::kDown);
    worker_.link_down(node, at.time());
  }

  /// A node lost a connection and can still be sent to by another.
  void link_degraded(std::uint32_t node, Arrival at) noexcept {
    tell_tap(node, SinkTap::Link::kDegraded);
    worker_.link_degraded(node, at.time());
  }

 private:
  void tell_tap(std::uint32_t node, SinkTap::Link link) noexcept {
    if (tap_ != nullptr) [[unlikely]] {
      tap_->link(node, link);
    }
  }

  Worker& worker_;
  SinkTap* tap_;
};

}  // namespace raftperf::load
