// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/result.h"
#include "load/phase.h"
#include "load/time.h"

namespace raftperf::load {

/// A rate as an exact decimal: millionths of an operation per second.
struct MicroHertz {
  std::uint64_t count = 0;

  static constexpr std::uint64_t kPerHertz = 1'000'000;
  [[nodiscard]] constexpr double per_second() const noexcept {
    return static_cast<double>(count) / static_cast<double>(kPerHertz);
  }
};

__extension__ using Uint128 = unsigned __int128;  // a GNU extension that -Wpedantic names

enum class ArrivalPattern : std::uint8_t {
  kUniform,  ///< Bursts at equal distances.
  kPoisson,  ///< Bursts at exponentially distributed distances.
};

struct ScheduleOptions {
  MicroHertz rate;
  std::uint64_t burst = 1;  ///< Operations that share one intended start.
  ArrivalPattern arrival = ArrivalPattern::kUniform;
  std::uint64_t seed = 1;  ///< Of Poisson arrivals.
  Duration warmup{0};
  Duration measure{0};
};

/// When the operations of an open loop should start, relative to the run's first
/// instant. Immutable; shared by all workers.
///
/// Uniform arrivals are computed from the operation's number k in 128-bit integers,
/// never accumulated: the rate is exact for ever and a stall moves nothing.
class ArrivalSchedule {
 public:
  /// Refuses a rate of 0, a burst of 0 or larger than the operations in the window,
  /// and a window without any operation.
  static Result<ArrivalSchedule> create(const ScheduleOptions& options);

  /// t(k) = floor(floor(k/B) * B * 10^15 / rate_uHz) ns. REQUIRES: uniform arrivals.
  [[nodiscard]] Duration offset(std::uint64_t k) const noexcept;

  /// Number of the first measured operation. REQUIRES: uniform arrivals.
  [[nodiscard]] std::uint64_t first_measured() const noexcept { return first_measured_; }
  /// How many operations are measured. REQUIRES: uniform arrivals; of Poisson arrivals
  /// it is what falls into the window.
  [[nodiscard]] std::uint64_t measured() const noexcept { return measured_; }

  [[nodiscard]] Window window() const noexcept { return window_; }
  [[nodiscard]] const ScheduleOptions& options() const noexcept { return options_; }

 private:
  explicit ArrivalSchedule(const ScheduleOptions& options) noexcept;

  ScheduleOptions options_;
  std::uint64_t first_measured_ = 0;
  std::uint64_t measured_ = 0;
  Window window_;
};

/// Which worker of how many.
struct Stripe {
  std::uint32_t worker = 0;
  std::uint32_t workers = 1;
};

/// One worker's share of the schedule: every `workers`-th burst, in order. The
/// operations of all cursors together are the schedule's, whatever their number.
class ScheduleCursor {
 public:
  ScheduleCursor(const ArrivalSchedule& schedule, Stripe stripe) noexcept;

  /// No operation is left.
  [[nodiscard]] bool done() const noexcept { return done_; }
  // Of the operation that is next. REQUIRES: !done().
  [[nodiscard]] std::uint64_t k() const noexcept { return k_; }
  [[nodiscard]] Duration offset() const noexcept { return offset_; }
  [[nodiscard]] Phase phase() const noexcept { return phase_; }
  [[nodiscard]] bool first_of_burst() const noexcept { return k_ == burst_first_; }

  void advance() noexcept;

 private:
  void load_burst() noexcept;
  void add_gap() noexcept;

  const ArrivalSchedule& schedule_;
  Stripe stripe_;
  bool done_ = false;
  std::uint64_t burst_index_;      ///< Of this worker's present burst, counted globally.
  std::uint64_t burst_first_ = 0;  ///< Number of its first operation.
  std::uint64_t burst_end_ = 0;
  std::uint64_t k_ = 0;
  Duration offset_{0};
  Phase phase_ = Phase::kWarmup;
  std::uint64_t gaps_ = 0;      ///< Poisson gaps added so far.
  Uint128 poisson_offset_ = 0;  ///< Their sum, in 2^-20 ns.
};

}  // namespace raftperf::load
