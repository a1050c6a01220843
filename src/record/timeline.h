// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "load/latency_recorder.h"

namespace raftperf::record {

/// One row of timeline.csv. Empty cells were not measured.
struct TimelineRow {
  std::int64_t second = 0;  ///< Since the start of the window; negative in the warm-up.
  load::Phase phase = load::Phase::kWarmup;
  const load::Interval* interval = nullptr;  ///< By intended start.
  bool closed_loop = false;
  std::uint64_t ok_by_completion = 0;
  std::optional<double> in_flight_mean;
  std::optional<int> leader;
  std::optional<std::uint64_t> term;
};

/// timeline.csv: one row a second, flushed as it is written, each ending in a newline,
/// so that a torn last row is recognised.
class Timeline {
 public:
  static Result<Timeline> create(const std::filesystem::path& path);
  Result<void> write(const TimelineRow& row);

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Close>;

  Timeline(File file, std::filesystem::path path)
      : file_(std::move(file)), path_(std::move(path)) {}
  Result<void> put(const std::string& line);

  File file_;
  std::filesystem::path path_;
};

}  // namespace raftperf::record
