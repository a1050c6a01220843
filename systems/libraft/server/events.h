// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

namespace raftperf::libraft {

/// Writes what happens to a node as one JSON object a line: `event`, `node`,
/// `unix_ms` (the wall clock, for reading beside other logs only), then the event's
/// own fields. For rare things: never once per request. A reader that does not read
/// costs lines, never time: what the descriptor does not take at once is dropped.
class Events {
 public:
  Events(int fd, std::uint16_t node) noexcept : fd_(fd), node_(node) {}

  void emit(std::string_view event, const nlohmann::ordered_json& fields = {}) const;

 private:
  int fd_;
  std::uint16_t node_;
};

/// One line and nothing else, written whole. False if it could not be written.
bool write_line(int fd, const nlohmann::ordered_json& object);

}  // namespace raftperf::libraft
