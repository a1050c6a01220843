// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace raftperf::stub {

using TimePoint = std::chrono::steady_clock::time_point;

enum class Service : std::uint8_t {
  kNone,         ///< Answered at once.
  kCapacity,     ///< One server in order of arrival, `capacity` operations a second.
  kFixed,        ///< One server in order of arrival, always `service_time`.
  kExponential,  ///< One server in order of arrival, `service_time` on average.
};

struct ServicePlan {
  Service service = Service::kNone;
  std::uint64_t capacity_micro_hertz = 0;
  std::chrono::nanoseconds service_time{0};
  std::uint64_t seed = 1;
  std::chrono::nanoseconds delay{0};  ///< Added to each answer, as by infinitely many servers.
};

/// When the answer to each operation is due. Due times of served operations never
/// decrease, nor do those of refused ones. One thread.
class ServiceTimes {
 public:
  explicit ServiceTimes(const ServicePlan& plan) noexcept;

  /// True if every answer is due when its operation arrives.
  [[nodiscard]] bool immediate() const noexcept { return immediate_; }

  /// When the answer to an operation that arrived at `arrival` is due, and the server
  /// busy until then. REQUIRES: arrivals never decrease.
  TimePoint serve(TimePoint arrival) noexcept;

  /// The same for an operation that is refused: it waits for no server.
  [[nodiscard]] TimePoint refuse(TimePoint arrival) const noexcept { return arrival + plan_.delay; }

 private:
  std::chrono::nanoseconds next_service_time() noexcept;

  ServicePlan plan_;
  bool immediate_;
  TimePoint free_at_{};
  std::uint64_t remainder_ = 0;  ///< Of 10^15 / capacity, so that the rate stays exact.
  std::uint64_t draws_ = 0;
};

}  // namespace raftperf::stub
