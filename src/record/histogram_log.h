// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdr/hdr_histogram_log.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "load/histogram.h"

namespace raftperf::record {

/// run.hlog: an HdrHistogram V2 interval log, values in ns, readable by HdrHistogram's
/// own tools. Every line is flushed, so that a run that is cut short keeps its seconds.
class HistogramLog {
 public:
  static Result<HistogramLog> create(const std::filesystem::path& path,
                                     std::chrono::system_clock::time_point start);

  /// One interval: `offset` since the log's start, and its length.
  Result<void> write(std::string_view tag, std::chrono::nanoseconds offset,
                     std::chrono::nanoseconds length, const load::Histogram& histogram);

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Close>;

  HistogramLog(File file, std::filesystem::path path)
      : file_(std::move(file)), path_(std::move(path)) {}

  File file_;
  std::filesystem::path path_;
  hdr_log_writer writer_{};
};

}  // namespace raftperf::record
