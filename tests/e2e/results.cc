// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/results.h"

#include <gtest/gtest.h>
#include <hdr/hdr_histogram.h>
#include <hdr/hdr_histogram_log.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>

namespace raftperf::e2e {
namespace {

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == ',') {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

void merge(MergedLog& into, hdr_histogram* histogram) {
  ++into.intervals;
  into.count += histogram->total_count;
  into.max_ns = std::max(into.max_ns, hdr_max(histogram));
  hdr_iter iter{};
  hdr_iter_recorded_init(&iter, histogram);
  while (hdr_iter_next(&iter)) {
    into.buckets.emplace_back(iter.value, iter.count);
  }
}

}  // namespace

const std::string& TimelineRow::text(const std::string& column) const {
  static const std::string kNone;
  const auto found = cells.find(column);
  EXPECT_NE(found, cells.end()) << "no column " << column;
  return found == cells.end() ? kNone : found->second;
}

std::int64_t TimelineRow::number(const std::string& column) const {
  const std::string& cell = text(column);
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  EXPECT_TRUE(code == std::errc{} && end == cell.data() + cell.size())
      << column << " is '" << cell << "'";
  return value;
}

std::vector<TimelineRow> read_timeline(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  EXPECT_TRUE(std::getline(file, line)) << path;
  const std::vector<std::string> header = split(line);
  std::vector<TimelineRow> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = split(line);
    EXPECT_EQ(cells.size(), header.size()) << line;
    TimelineRow& row = rows.emplace_back();
    for (std::size_t i = 0; i < std::min(cells.size(), header.size()); ++i) {
      row.cells[header[i]] = cells[i];
    }
  }
  return rows;
}

std::vector<TimelineRow> measured(const std::vector<TimelineRow>& rows) {
  std::vector<TimelineRow> result;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(result),
               [](const TimelineRow& row) { return row.text("phase") == "measurement"; });
  return result;
}

load::Books sum(const std::vector<TimelineRow>& rows) {
  load::Books books;
  const auto count = [](const TimelineRow& row, const std::string& column) {
    return static_cast<std::uint64_t>(row.number(column));
  };
  for (const TimelineRow& row : rows) {
    books.scheduled += count(row, "scheduled");
    books.sent += count(row, "sent");
    for (std::size_t i = 0; i < load::kDropCount; ++i) {
      const std::string name(to_string(static_cast<load::Drop>(i)));
      books.dropped[i] += count(row, "dropped_" + name);
    }
    books.ok += count(row, "ok");
    books.rejected += count(row, "rejected");
    books.unknown[0] += count(row, "unknown");
  }
  return books;
}

std::int64_t MergedLog::count_from(std::int64_t ns) const {
  std::int64_t total = 0;
  for (const auto& [value, times] : buckets) {
    total += value >= ns ? times : 0;
  }
  return total;
}

std::map<std::string, MergedLog> read_histogram_log(const std::filesystem::path& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                             &std::fclose);
  std::map<std::string, MergedLog> merged;
  hdr_log_reader reader{};
  if (file == nullptr || hdr_log_reader_init(&reader) != 0 ||
      hdr_log_read_header(&reader, file.get()) != 0) {
    ADD_FAILURE() << path << " has no header";
    return merged;
  }
  while (true) {
    std::string tag(64, '\0');
    hdr_log_entry entry{};
    entry.tag = tag.data();
    entry.tag_len = tag.size();
    hdr_histogram* read = nullptr;
    const int result = hdr_log_read_entry(&reader, file.get(), &entry, &read);
    const std::unique_ptr<hdr_histogram, void (*)(hdr_histogram*)> histogram(read, &hdr_close);
    if (result == EOF) {
      return merged;
    }
    if (result != 0) {
      ADD_FAILURE() << path << ": " << hdr_strerror(result);
      return merged;
    }
    merge(merged[std::string(tag.c_str())], read);
  }
}

void expect_books_close(const record::RunRecord& record) {
  const auto& reported = record.mode == "open" ? record.response : record.service;
  EXPECT_EQ(record.books.imbalance(reported.count), "");
  const auto& warmup = record.warmup_books;
  EXPECT_EQ(warmup.imbalance(warmup.ok), "");
}

}  // namespace raftperf::e2e
