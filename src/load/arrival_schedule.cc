// SPDX-License-Identifier: Apache-2.0
#include "load/arrival_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace raftperf::load {
namespace {

// ns * uHz to operations: 10^9 ns/s times 10^6 uHz/Hz.
constexpr std::uint64_t kNanosPerMicroHertzSecond = 1'000'000'000'000'000;
constexpr unsigned kPoissonFractionBits = 20;

Uint128 rate_times(MicroHertz rate, Duration time) noexcept {
  return static_cast<Uint128>(rate.count) * static_cast<std::uint64_t>(time.count());
}

/// A number in (0, 1] that depends on seed and index alone (SplitMix64), so that any
/// number of workers draws the same arrivals.
double uniform_unit(std::uint64_t seed, std::uint64_t index) noexcept {
  std::uint64_t x = seed * 0xD1342543DE82EF95U + (index + 1) * 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  x ^= x >> 31U;
  return static_cast<double>((x >> 11U) + 1) * 0x1.0p-53;
}

}  // namespace

ArrivalSchedule::ArrivalSchedule(const ScheduleOptions& options) noexcept : options_(options) {
  const std::uint64_t burst = options.burst;
  const Uint128 per_burst = static_cast<Uint128>(burst) * kNanosPerMicroHertzSecond;
  const Uint128 warmup = rate_times(options.rate, options.warmup);
  first_measured_ = static_cast<std::uint64_t>((warmup + per_burst - 1) / per_burst) * burst;
  const Uint128 measure = rate_times(options.rate, options.measure);
  measured_ = static_cast<std::uint64_t>((measure + kNanosPerMicroHertzSecond / 2) /
                                         kNanosPerMicroHertzSecond);
  const Duration start =
      options.arrival == ArrivalPattern::kUniform ? offset(first_measured_) : options.warmup;
  window_ = Window{.start = start, .end = start + options.measure};
}

Result<ArrivalSchedule> ArrivalSchedule::create(const ScheduleOptions& options) {
  if (options.rate.count == 0) {
    return Error{"the rate must be above 0"};
  }
  if (options.burst == 0) {
    return Error{"the burst must be 1 or more"};
  }
  if (options.warmup < Duration{0} || options.measure <= Duration{0}) {
    return Error{"the warm-up must not be negative and the measurement must be above 0"};
  }
  ArrivalSchedule schedule(options);
  if (schedule.measured_ == 0) {
    return Error{fmt::format("no operation falls into the measurement: {}/s for {} s",
                             options.rate.per_second(),
                             std::chrono::duration<double>(options.measure).count())};
  }
  if (options.burst > schedule.measured_) {
    return Error{fmt::format("a burst of {} is more than the {} operations of the measurement",
                             options.burst, schedule.measured_)};
  }
  return schedule;
}

Duration ArrivalSchedule::offset(std::uint64_t k) const noexcept {
  const std::uint64_t burst_start = k - k % options_.burst;
  const Uint128 ns =
      static_cast<Uint128>(burst_start) * kNanosPerMicroHertzSecond / options_.rate.count;
  return Duration{static_cast<std::int64_t>(ns)};
}

ScheduleCursor::ScheduleCursor(const ArrivalSchedule& schedule, Stripe stripe) noexcept
    : schedule_(schedule), stripe_(stripe), burst_index_(stripe.worker) {
  load_burst();
}

void ScheduleCursor::advance() noexcept {
  ++k_;
  if (k_ < burst_end_) {
    return;
  }
  burst_index_ += stripe_.workers;
  load_burst();
}

void ScheduleCursor::load_burst() noexcept {
  const ScheduleOptions& options = schedule_.options();
  burst_first_ = burst_index_ * options.burst;
  burst_end_ = burst_first_ + options.burst;
  k_ = burst_first_;
  if (options.arrival == ArrivalPattern::kUniform) {
    const std::uint64_t end = schedule_.first_measured() + schedule_.measured();
    burst_end_ = std::min(burst_end_, end);
    done_ = burst_first_ >= end;
    offset_ = schedule_.offset(burst_first_);
    phase_ = burst_first_ >= schedule_.first_measured() ? Phase::kMeasurement : Phase::kWarmup;
    return;
  }
  while (gaps_ <= burst_index_) {
    add_gap();
  }
  offset_ = Duration{static_cast<std::int64_t>(poisson_offset_ >> kPoissonFractionBits)};
  done_ = offset_ >= schedule_.window().end;
  phase_ = offset_ >= schedule_.window().start ? Phase::kMeasurement : Phase::kWarmup;
}

void ScheduleCursor::add_gap() noexcept {
  const ScheduleOptions& options = schedule_.options();
  const double gap_mean_ns = static_cast<double>(options.burst) *
                             static_cast<double>(kNanosPerMicroHertzSecond) /
                             static_cast<double>(options.rate.count);
  const double gap_ns = -std::log(uniform_unit(options.seed, gaps_)) * gap_mean_ns;
  poisson_offset_ += static_cast<Uint128>(std::ldexp(gap_ns, kPoissonFractionBits));
  ++gaps_;
}

}  // namespace raftperf::load
