// SPDX-License-Identifier: Apache-2.0
#include "drivers/sim/sim_server.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace raftperf::drivers {

using load::Duration;
using load::TimePoint;

SimServer::SimServer(const SimServerOptions& options, TimePoint start)
    : options_(options), start_(start), free_at_(options.servers, start) {}

TimePoint SimServer::answer(TimePoint arrival) {
  const Duration work = next_service();
  if (free_at_.empty()) {
    return after_work(arrival, work);
  }
  std::pop_heap(free_at_.begin(), free_at_.end(), std::greater<>{});
  free_at_.back() = after_work(std::max(arrival, free_at_.back()), work);
  const TimePoint done = free_at_.back();
  std::push_heap(free_at_.begin(), free_at_.end(), std::greater<>{});
  return done;
}

Duration SimServer::next_service() noexcept {
  ++served_;
  if (options_.distribution == ServiceTime::kFixed) {
    return options_.service_time;
  }
  // SplitMix64 of a counter, as for Poisson arrivals, from another starting point.
  std::uint64_t x = (options_.seed ^ 0x5851F42D4C957F2DU) + served_ * 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  x ^= x >> 31U;
  const double unit = static_cast<double>((x >> 11U) + 1) * 0x1.0p-53;
  const double mean = static_cast<double>(options_.service_time.count());
  return Duration{std::llround(-std::log(unit) * mean)};
}

TimePoint SimServer::after_work(TimePoint from, Duration work) const noexcept {
  TimePoint end = from + work;
  for (const SimPeriod& stall : options_.stalls) {
    const TimePoint stall_start = start_ + stall.at;
    const TimePoint stall_end = stall_start + stall.length;
    if (stall_end <= from || stall_start >= end) {
      continue;
    }
    end += stall_end - std::max(from, stall_start);
  }
  return end;
}

}  // namespace raftperf::drivers
