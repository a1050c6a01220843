// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "record/run_record.h"

namespace raftperf::record {

/// The machine and the build that a run took place on. What cannot be read is null.
Json capture_environment();

/// CPU time of the whole machine so far, in ticks of /proc/stat.
struct MachineCpu {
  std::uint64_t total = 0;
  std::uint64_t busy = 0;
  std::uint64_t stolen = 0;
};
std::optional<MachineCpu> machine_cpu();

/// Which share of the machine's CPU time the hypervisor took between two readings.
std::optional<double> steal_share(const std::optional<MachineCpu>& from,
                                  const std::optional<MachineCpu>& to);
/// Which share of it was busy.
std::optional<double> busy_share(const std::optional<MachineCpu>& from,
                                 const std::optional<MachineCpu>& to);

/// "2026-12-01T14:36:57.123Z"
std::string utc_text(std::chrono::system_clock::time_point time);

}  // namespace raftperf::record
