// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/endpoint.h"
#include "stub/faults.h"
#include "stub/node.h"
#include "stub/service_times.h"

namespace raftperf::stub {

/// All that the stub can be told.
struct Options {
  net::Endpoint listen{.host = "127.0.0.1", .port = 0};
  Identity identity;
  FaultPlan faults;
  ServicePlan service;
  std::vector<Window> freezes;  ///< Nothing is read or answered meanwhile.
  std::string arrival_log;      ///< Path; empty: none.
  std::string counters_file;    ///< Path; empty: none.
  std::uint64_t parent = 0;     ///< The process to end with; 0: none.
};

/// Reads the command line. A user's mistake is an error of one line, in the form
/// "--option 'value': what is allowed; example". None means that the help was asked
/// for and has been printed.
Result<std::optional<Options>> parse_options(int argc, const char* const* argv);

}  // namespace raftperf::stub
