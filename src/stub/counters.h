// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "wire/cpp/frame.h"

namespace raftperf::stub {

/// What happened, each counted at its own event. Operations are append,
/// compare_and_set and get; hello, status and transfer_leader are counted apart.
///
/// received = answered (all statuses) + dropped + closed_without_answer
///            + answers_lost + pending, at any time.
struct Counters {
  static constexpr std::size_t kStatusCount = 5;

  std::uint64_t received = 0;
  std::uint64_t received_appends = 0;
  std::uint64_t received_compare_and_sets = 0;
  std::uint64_t received_gets = 0;
  std::uint64_t applied = 0;  ///< Appends and compare_and_sets, as in node_status.
  std::array<std::uint64_t, kStatusCount> answered{};  ///< By Status, given to a connection.
  std::uint64_t dropped = 0;
  std::uint64_t held = 0;  ///< By --hold-every; answered at the drain.
  std::uint64_t acknowledged_without_apply = 0;
  std::uint64_t closed_without_answer = 0;  ///< By --apply-then-close-every.
  std::uint64_t answers_lost = 0;           ///< Due after their connection had gone.
  std::uint64_t pending = 0;                ///< Not due yet, or held.
  std::uint64_t hellos = 0;
  std::uint64_t status_requests = 0;
  std::uint64_t transfers = 0;
  std::uint64_t connections_accepted = 0;
  std::uint64_t connections_closed = 0;
  std::uint64_t connections_malformed = 0;
  std::uint64_t receive_calls = 0;
  std::uint64_t send_calls = 0;
  std::uint64_t frames_received = 0;
  std::uint64_t frames_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t dumps = 0;  ///< How often these were written, this time included.
};

/// As one JSON object, one member a line.
std::string to_json(const Counters& counters);

/// Writes them to `path`, so that a reader sees the old file or the whole new one
/// (but for a path that is not a regular file, like /dev/stderr, which is written to).
Result<void> write_counters(const Counters& counters, const std::string& path);

}  // namespace raftperf::stub
