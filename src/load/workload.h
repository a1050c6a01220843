// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "load/operation.h"

namespace raftperf::load {

struct WorkloadOptions {
  OperationKind kind = OperationKind::kAppend;
  std::uint32_t value_size = 64;  ///< Bytes of an append, set or echo.
  std::uint64_t key_first = 0;    ///< Key of slot 0; the run's keys follow it.
  std::uint64_t salt = 0;         ///< Makes the values of two runs differ.
};

/// What to ask: key = slot, value = f(k). A slot has one operation in flight at a
/// time, so compare-and-sets on its key form a serial chain.
class Workload {
 public:
  explicit Workload(const WorkloadOptions& options) noexcept : options_(options) {}

  /// The value that operation number `k` writes; never 0, which a key that was never
  /// written has.
  [[nodiscard]] std::uint64_t value(std::uint64_t k) const noexcept {
    // The finaliser of SplitMix64 (Steele, Lea, Flood 2014): distinct k, distinct values.
    std::uint64_t x = k + options_.salt;
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
    x ^= x >> 31U;
    return x == 0 ? 1 : x;
  }

  /// Operation number `k` on the key of `global_slot`. The caller sets id, node and lane.
  [[nodiscard]] Operation operation(std::uint64_t k, std::uint64_t global_slot,
                                    std::uint64_t last_known) const noexcept {
    Operation operation;
    operation.kind = options_.kind;
    operation.value_size = options_.value_size;
    operation.key = options_.key_first + global_slot;
    operation.expected = last_known;
    operation.value = value(k);
    return operation;
  }

  [[nodiscard]] const WorkloadOptions& options() const noexcept { return options_; }

 private:
  WorkloadOptions options_;
};

}  // namespace raftperf::load
