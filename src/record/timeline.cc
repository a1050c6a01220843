// SPDX-License-Identifier: Apache-2.0
#include "record/timeline.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace raftperf::record {
namespace {

template <typename T>
std::string cell(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}

std::string quantile_cell(const load::Histogram& histogram, const load::Quantile& quantile) {
  const auto value = histogram.at(quantile);
  return value ? fmt::format("{}", value->count()) : std::string();
}

}  // namespace

Result<Timeline> Timeline::create(const std::filesystem::path& path) {
  File file(std::fopen(path.c_str(), "we"));
  if (file == nullptr) {
    return Error{fmt::format("{}: {}", path.string(), std::strerror(errno))};
  }
  Timeline timeline(std::move(file), path);
  std::string header = "second,phase,scheduled,sent";
  for (std::size_t i = 0; i < load::kDropCount; ++i) {
    header += fmt::format(",dropped_{}", to_string(static_cast<load::Drop>(i)));
  }
  header +=
      ",ok,rejected,unknown,ok_by_completion,p50_ns,p99_ns,max_ns,lag_p99_ns,in_flight_mean,leader,"
      "term";
  if (const auto written = timeline.put(header); !written) {
    return Error{written.error()};
  }
  return timeline;
}

Result<void> Timeline::write(const TimelineRow& row) {
  const load::Books& books = row.interval->books;
  const load::Histograms& histograms = row.interval->histograms;
  const load::Histogram& latencies = row.closed_loop ? histograms.service : histograms.response;
  std::string line =
      fmt::format("{},{},{},{}", row.second, to_string(row.phase), books.scheduled, books.sent);
  for (const std::uint64_t dropped : books.dropped) {
    line += fmt::format(",{}", dropped);
  }
  const auto max = latencies.max();
  line +=
      fmt::format(",{},{},{},{},{},{},{},{},{},{},{}", books.ok, books.rejected,
                  books.unknown_total(), row.ok_by_completion, quantile_cell(latencies, load::kP50),
                  quantile_cell(latencies, load::kP99), max ? fmt::format("{}", max->count()) : "",
                  quantile_cell(histograms.lag, load::kP99),
                  row.in_flight_mean ? fmt::format("{:.2f}", *row.in_flight_mean) : "",
                  cell(row.leader), cell(row.term));
  return put(line);
}

Result<void> Timeline::put(const std::string& line) {
  if (std::fputs((line + "\n").c_str(), file_.get()) < 0 || std::fflush(file_.get()) != 0) {
    return Error{fmt::format("{}: {}", path_.string(), std::strerror(errno))};
  }
  return {};
}

}  // namespace raftperf::record
