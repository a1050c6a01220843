// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/endpoint.h"

namespace raftperf::libraft {

/// What the server was told on its command line, checked.
struct Options {
  std::uint16_t node = 0;
  std::vector<net::Endpoint> nodes;  ///< Raft addresses of all, IPv4 literals.
  net::Endpoint listen;              ///< Where clients connect.
  std::string directory;
  bool bootstrap = false;
  bool pre_vote = true;
  std::chrono::milliseconds election_timeout{1000};
  std::chrono::milliseconds heartbeat{100};
  std::chrono::milliseconds connect_retry{100};
  std::chrono::milliseconds drain_timeout{2000};
  unsigned snapshot_threshold = 50000;
  unsigned snapshot_trailing = 8192;
  std::size_t segment_size = 8U << 20U;  ///< Bytes of a log file.
  std::size_t pending_max = 65536;
  std::size_t batch_max = 4096;
  std::size_t output_max = 1U << 20U;  ///< Unsent reply bytes at which a client is not read.
  std::uint64_t run_token = 0;
  std::uint64_t incarnation = 0;

  /// `1.2.3.4:9200` of one node, as libraft names it.
  [[nodiscard]] std::string raft_address(std::size_t index) const;
};

/// What the command line asks for: a server, or to print something and stop.
struct CommandLine {
  std::optional<Options> options;
  int exit_code = 0;  ///< Without options: 0 after --help or --version, else 2.
};

/// Reads the command line. Mistakes are said on stderr, each in one line with the
/// option, the value, what is allowed and an example. May block on DNS.
CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace raftperf::libraft
