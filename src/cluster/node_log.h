// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace raftperf::cluster {

/// Reads a node's growing log for the line that says it is ready. One thread.
class ReadyLineReader {
 public:
  /// A line {"event":"ready","run_token":...}.
  struct ReadyLine {
    std::optional<std::uint64_t> run_token;  ///< A number, or its decimal text.
  };

  /// Looks from `offset` on: what stands before is of an earlier process.
  ReadyLineReader(std::filesystem::path log, std::uint64_t offset)
      : log_(std::move(log)), offset_(offset) {}

  /// Reads what is new. The ready line once it is there.
  std::optional<ReadyLine> poll();

 private:
  std::filesystem::path log_;
  std::uint64_t offset_;
  std::string partial_;
};

/// The last lines of a log, each indented and on a line of its own; a note if it is
/// empty. Reads at most 8 KiB.
std::string log_tail(const std::filesystem::path& log, int lines);

}  // namespace raftperf::cluster
