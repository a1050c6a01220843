// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace raftperf::cluster {

/// Who holds a TCP port of this machine.
struct PortOwner {
  pid_t pid = -1;                          ///< -1 if it belongs to another user and cannot be seen.
  std::string command;                     ///< Its arguments, joined by blanks.
  std::optional<std::uint64_t> run_token;  ///< If it is a server that raftperf started.
};

/// Looks a TCP port up in /proc/net/tcp and tcp6, a listener before any other. Nothing
/// if nobody holds it. Reads the descriptors of every process: milliseconds.
std::optional<PortOwner> find_port_owner(std::uint16_t port);

/// Whether a server could listen on the port now, tried by doing it.
bool port_is_free(const std::string& host, std::uint16_t port);

}  // namespace raftperf::cluster
