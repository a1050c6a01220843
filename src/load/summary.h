// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "load/arrival_schedule.h"
#include "load/latency_recorder.h"
#include "load/worker.h"

namespace raftperf::load {

/// The number of unanswered operations as another thread sampled it, for Little's law.
struct InFlightSamples {
  std::uint64_t count = 0;
  double sum = 0;
  double sum_of_squares = 0;

  void add(double value) noexcept;
  [[nodiscard]] std::optional<double> mean() const noexcept;
  /// Of the mean, samples taken as independent.
  [[nodiscard]] double standard_error() const noexcept;
};

/// When sample number `i` of what is in flight is due, since the run's first instant: a
/// hundred a second, each at another point of its hundredth (multiples of the golden
/// ratio). At equal distances they would meet a uniform schedule always at the same point
/// between two operations, and Little's law would seem to fail.
[[nodiscard]] Duration sample_offset(std::uint64_t i) noexcept;

/// What a run did, all workers together: everything that a judgement or a record needs
/// and the rig itself knows. Percentiles come from these histograms, joined, and from
/// nothing else.
struct Summary {
  explicit Summary(Duration range_max) : histograms(range_max), turn_gap(range_max) {}

  LoadMode mode = LoadMode::kOpen;
  std::optional<MicroHertz> offered;  ///< Open loop only.
  std::uint64_t burst = 1;
  std::uint32_t slots = 0;  ///< MAX_INFLIGHT, or the chains of a closed loop.
  Window window;
  bool interrupted = false;

  Books books;  ///< Of the measurement.
  Books warmup_books;
  Counts counts;
  Histograms histograms;
  Histogram turn_gap;
  std::string imbalance;  ///< Why the books do not close; empty if they do.
  std::uint64_t completed_in_window = 0;
  std::optional<Duration> p50_first_third;  ///< Of the reported latency.
  std::optional<Duration> p50_last_third;

  std::uint64_t late_replies = 0;
  std::uint64_t bad_stamps = 0;
  std::uint64_t acknowledged = 0;  ///< Whole run, warm-up included.
  std::uint64_t unknown = 0;       ///< Whole run.
  std::uint64_t rejected = 0;      ///< Whole run.
  std::uint64_t unanswered_at_window_start = 0;
  std::uint64_t unsent_at_window_start = 0;
  double busy_share = 0;  ///< Of the busiest worker.
  InFlightSamples in_flight;

  /// Response in an open loop, service in a closed one.
  [[nodiscard]] const Histogram& reported() const noexcept {
    return mode == LoadMode::kOpen ? histograms.response : histograms.service;
  }
  [[nodiscard]] double measure_s() const noexcept;
  [[nodiscard]] double achieved_per_s() const noexcept;
  /// Unanswered operations: sampled, or what Little's law makes of rate and latency.
  [[nodiscard]] std::optional<double> in_flight_mean() const noexcept;
  /// Achieved rate x mean latency / operations in flight; 1 when the rig measured what
  /// it thinks it did.
  [[nodiscard]] std::optional<double> little_ratio() const noexcept;
  /// The rig's share of the latency at a percentile: max(0, 1 - service / response).
  [[nodiscard]] std::optional<double> rig_share(const Quantile& quantile) const noexcept;
  /// The percentile of the reported latency with every operation that was not
  /// answered ok counted as infinitely slow; none if it is infinite or nothing was due.
  [[nodiscard]] std::optional<Duration> at_if_lost_were_infinite(
      const Quantile& quantile) const noexcept;
};

/// Sums up a run interval by interval, as the merger emits them.
class SummaryBuilder {
 public:
  SummaryBuilder(LoadMode mode, Window window, Duration range_max);

  void add(const Interval& interval);

  /// Takes what the workers know beside their intervals. REQUIRES: all are finished.
  Summary finish(const std::vector<Worker*>& workers) &&;

 private:
  Summary summary_;
  Histogram first_third_;
  Histogram last_third_;
};

}  // namespace raftperf::load
