// SPDX-License-Identifier: Apache-2.0
#include "stub/service_times.h"

#include <algorithm>
#include <cmath>

namespace raftperf::stub {
namespace {

/// The i-th number of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom
/// number generators", 2014), so that a seed gives the same service times everywhere.
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t i) noexcept {
  std::uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EB;
  return z ^ (z >> 31U);
}

/// Uniform in (0, 1], so that its logarithm is finite.
double random_unit(std::uint64_t seed, std::uint64_t i) noexcept {
  return static_cast<double>((random_bits(seed, i) >> 11U) + 1) * 0x1p-53;
}

}  // namespace

ServiceTimes::ServiceTimes(const ServicePlan& plan) noexcept
    : plan_(plan), immediate_(plan.service == Service::kNone && plan.delay.count() == 0) {}

TimePoint ServiceTimes::serve(TimePoint arrival) noexcept {
  if (plan_.service == Service::kNone) {
    return arrival + plan_.delay;
  }
  free_at_ = std::max(free_at_, arrival) + next_service_time();
  return free_at_ + plan_.delay;
}

std::chrono::nanoseconds ServiceTimes::next_service_time() noexcept {
  constexpr std::uint64_t kNanosTimesMicros = 1'000'000'000'000'000;
  switch (plan_.service) {
    case Service::kCapacity: {
      const std::uint64_t rate = plan_.capacity_micro_hertz;
      std::uint64_t ns = kNanosTimesMicros / rate;
      remainder_ += kNanosTimesMicros % rate;
      if (remainder_ >= rate) {
        remainder_ -= rate;
        ++ns;
      }
      return std::chrono::nanoseconds{static_cast<std::int64_t>(ns)};
    }
    case Service::kExponential: {
      const double factor = -std::log(random_unit(plan_.seed, draws_++));
      return std::chrono::nanoseconds{
          std::llround(factor * static_cast<double>(plan_.service_time.count()))};
    }
    case Service::kFixed:
      return plan_.service_time;
    case Service::kNone:
      break;
  }
  return std::chrono::nanoseconds{0};
}

}  // namespace raftperf::stub
