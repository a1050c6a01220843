// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "load/books.h"
#include "record/run_record.h"

namespace raftperf::e2e {

/// One row of a timeline.csv, by the names of its header.
struct TimelineRow {
  std::map<std::string, std::string> cells;

  [[nodiscard]] const std::string& text(const std::string& column) const;
  [[nodiscard]] std::int64_t number(const std::string& column) const;
};

/// All rows; fails the test where one has not as many cells as the header.
std::vector<TimelineRow> read_timeline(const std::filesystem::path& path);
std::vector<TimelineRow> measured(const std::vector<TimelineRow>& rows);
/// The books of these rows together; the causes of unknown are not told apart there.
load::Books sum(const std::vector<TimelineRow>& rows);

/// A run.hlog by HdrHistogram's own reader: all intervals of a tag merged.
struct MergedLog {
  int intervals = 0;
  std::int64_t count = 0;
  std::int64_t max_ns = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> buckets;  ///< Value in ns, count.

  [[nodiscard]] std::int64_t count_from(std::int64_t ns) const;
};
std::map<std::string, MergedLog> read_histogram_log(const std::filesystem::path& path);

/// scheduled = sent + dropped, sent = ok + rejected + unknown, histogram count = ok.
void expect_books_close(const record::RunRecord& record);

}  // namespace raftperf::e2e
