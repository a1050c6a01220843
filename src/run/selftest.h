// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace raftperf::run {

/// One thing that the rig must get right, or that this machine was seen to do.
struct Check {
  enum class Outcome {
    kPassed,
    kFailed,
    kNoted,  ///< About the machine, not about correctness.
  };
  std::string name;
  std::string expected;
  std::string measured;
  Outcome outcome = Outcome::kFailed;
};

/// The rig on simulated time against closed-form answers. Some seconds of computation.
std::vector<Check> check_against_theory();

/// The rig in real time against the fault stub in a process of its own: its arrival log
/// against our lag, its counts against our books. Some ten seconds.
std::vector<Check> check_against_stub(const std::filesystem::path& stub_program);

}  // namespace raftperf::run
