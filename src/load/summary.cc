// SPDX-License-Identifier: Apache-2.0
#include "load/summary.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace raftperf::load {
namespace {

const Histogram& reported(LoadMode mode, const Histograms& histograms) noexcept {
  return mode == LoadMode::kOpen ? histograms.response : histograms.service;
}

double seconds(Duration duration) noexcept {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

Duration sample_offset(std::uint64_t i) noexcept {
  constexpr Duration kEvery = std::chrono::milliseconds{10};
  constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15U;  // its fraction, in 2^-64
  const Uint128 into =
      static_cast<Uint128>(i * kGoldenRatio) * static_cast<std::uint64_t>(kEvery.count());
  return static_cast<std::int64_t>(i) * kEvery + Duration{static_cast<std::int64_t>(into >> 64U)};
}

void InFlightSamples::add(double value) noexcept {
  ++count;
  sum += value;
  sum_of_squares += value * value;
}

std::optional<double> InFlightSamples::mean() const noexcept {
  return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
}

double InFlightSamples::standard_error() const noexcept {
  if (count < 2) {
    return 0;
  }
  const auto n = static_cast<double>(count);
  const double variance = std::max(0.0, (sum_of_squares - sum * sum / n) / (n - 1));
  return std::sqrt(variance / n);
}

double Summary::measure_s() const noexcept {
  // A run that was interrupted in its warm-up measured nothing.
  return std::max(0.0, seconds(window.end - window.start));
}

double Summary::achieved_per_s() const noexcept {
  const double measure = measure_s();
  return measure > 0 ? static_cast<double>(completed_in_window) / measure : 0;
}

std::optional<double> Summary::in_flight_mean() const noexcept {
  if (in_flight.count > 0) {
    return in_flight.mean();
  }
  const auto mean = reported().mean_ns();
  return mean ? std::optional(achieved_per_s() * *mean / 1e9) : std::nullopt;
}

std::optional<double> Summary::little_ratio() const noexcept {
  const auto mean = reported().mean_ns();
  const auto outstanding =
      mode == LoadMode::kClosed ? std::optional(static_cast<double>(slots)) : in_flight.mean();
  if (!mean || !outstanding || *outstanding <= 0) {
    return std::nullopt;
  }
  return achieved_per_s() * *mean / 1e9 / *outstanding;
}

std::optional<double> Summary::rig_share(const Quantile& quantile) const noexcept {
  const auto response = histograms.response.at(quantile);
  const auto service = histograms.service.at(quantile);
  if (!response || !service || response->count() == 0) {
    return std::nullopt;
  }
  const double ratio =
      static_cast<double>(service->count()) / static_cast<double>(response->count());
  return std::max(0.0, 1.0 - ratio);
}

std::optional<Duration> Summary::at_if_lost_were_infinite(const Quantile& quantile) const noexcept {
  if (books.scheduled == 0) {
    return std::nullopt;
  }
  return reported().at_rank(nearest_rank(books.scheduled, quantile));
}

SummaryBuilder::SummaryBuilder(LoadMode mode, Window window, Duration range_max)
    : summary_(range_max), first_third_(range_max), last_third_(range_max) {
  summary_.mode = mode;
  summary_.window = window;
}

void SummaryBuilder::add(const Interval& interval) {
  const Histogram& latencies = reported(summary_.mode, interval.histograms);
  if (summary_.imbalance.empty()) {
    summary_.imbalance = interval.books.imbalance(latencies.count() + latencies.overflow());
  }
  if (interval.phase == Phase::kWarmup) {
    summary_.warmup_books.add(interval.books);
    return;
  }
  summary_.books.add(interval.books);
  summary_.counts.add(interval.counts);
  summary_.histograms.add(interval.histograms);
  const Duration length = summary_.window.end - summary_.window.start;
  if (3 * (interval.index + 1) * kIntervalLength <= length) {
    first_third_.add(latencies);
  } else if (3 * interval.index * kIntervalLength >= 2 * length) {
    last_third_.add(latencies);
  }
}

Summary SummaryBuilder::finish(const std::vector<Worker*>& workers) && {
  summary_.p50_first_third = first_third_.at(kP50);
  summary_.p50_last_third = last_third_.at(kP50);
  if (summary_.imbalance.empty()) {
    summary_.imbalance =
        summary_.books.imbalance(summary_.reported().count() + summary_.reported().overflow());
  }
  for (Worker* worker : workers) {
    const Worker::Facts& facts = worker->facts();
    summary_.window.end = std::min(summary_.window.end, worker->window().end);
    summary_.slots += worker->table().capacity();
    summary_.turn_gap.add(worker->recorder().turn_gap());
    summary_.completed_in_window += worker->recorder().completed_in_window();
    summary_.late_replies += facts.late_replies;
    summary_.bad_stamps += facts.bad_stamps;
    summary_.acknowledged += facts.acknowledged;
    summary_.unknown += facts.unknown;
    summary_.rejected += facts.rejected;
    summary_.unanswered_at_window_start += facts.unanswered_at_window_start.value_or(0);
    summary_.unsent_at_window_start += facts.unsent_at_window_start.value_or(0);
    if (facts.looped > Duration{0}) {
      summary_.busy_share =
          std::max(summary_.busy_share, seconds(facts.busy) / seconds(facts.looped));
    }
  }
  return std::move(summary_);
}

}  // namespace raftperf::load
