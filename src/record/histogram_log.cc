// SPDX-License-Identifier: Apache-2.0
#include "record/histogram_log.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace raftperf::record {
namespace {

hdr_timespec to_timespec(std::chrono::nanoseconds duration) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(duration);
  hdr_timespec time{};
  time.tv_sec = seconds.count();
  time.tv_nsec = (duration - seconds).count();
  return time;
}

}  // namespace

Result<HistogramLog> HistogramLog::create(const std::filesystem::path& path,
                                          std::chrono::system_clock::time_point start) {
  File file(std::fopen(path.c_str(), "we"));
  if (file == nullptr) {
    return Error{fmt::format("{}: {}", path.string(), std::strerror(errno))};
  }
  const double epoch_s = std::chrono::duration<double>(start.time_since_epoch()).count();
  // hdr_log_write_header prints the start with a malformed date, so the lines are ours:
  // version, start and columns as HistogramLogWriter of HdrHistogram (Java) writes them.
  fmt::print(file.get(),
             "#[raftperf: one interval a second by intended start; values in ns]\n"
             "#[Histogram log format version 1.3]\n"
             "#[StartTime: {:.3f} (seconds since epoch)]\n"
             "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
             "\"Interval_Compressed_Histogram\"\n",
             epoch_s);
  HistogramLog log(std::move(file), path);
  hdr_log_writer_init(&log.writer_);
  return log;
}

Result<void> HistogramLog::write(std::string_view tag, std::chrono::nanoseconds offset,
                                 std::chrono::nanoseconds length,
                                 const load::Histogram& histogram) {
  std::string tag_text(tag);
  hdr_log_entry entry{};
  entry.start_timestamp = to_timespec(offset);
  // What the library calls the interval is the length in the file's own terms.
  entry.interval = to_timespec(length);
  entry.tag = tag_text.data();
  entry.tag_len = tag_text.size();
  const int code = hdr_log_write_entry(&writer_, file_.get(), &entry, histogram.hdr());
  if (code != 0 || std::fflush(file_.get()) != 0) {
    return Error{fmt::format("{}: {}", path_.string(), std::strerror(code != 0 ? code : errno))};
  }
  return {};
}

}  // namespace raftperf::record
