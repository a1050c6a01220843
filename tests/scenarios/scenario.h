// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace raftperf::tests {

/// One block of a scenario file: what is set up, and what the run must print.
///
///     # the text above a block says why it is there
///     load open rate=1000/s duration=10s
///     server service_time=1ms stall=2s:500ms
///     ----
///     scheduled 10000  ok 10000  ...
///
/// A block ends with an empty line. The words of a line are settings of its subject.
struct Scenario {
  using Settings = std::map<std::string, std::string>;
  std::string text;                         ///< Everything above `----`, as it stands.
  std::map<std::string, Settings> subject;  ///< load, server, client, surroundings.
  std::string expected;
};

Result<std::vector<Scenario>> read_scenarios(std::string_view text);

/// Runs the rig on simulated time and prints what happened.
Result<std::string> run_scenario(const Scenario& scenario);

}  // namespace raftperf::tests
