// SPDX-License-Identifier: Apache-2.0
#include "report/run_table.h"

#include <fmt/format.h>

#include "report/numbers.h"

namespace raftperf::report {
namespace {

std::string load_of(const record::RunRecord& record) {
  if (record.window.offered_per_s) {
    return rate_text(*record.window.offered_per_s);
  }
  for (const auto& option : record.options) {
    if (option.name == "threads") {
      return "closed " + option.value;
    }
  }
  return "closed";
}

}  // namespace

std::string run_table(const std::vector<record::RunRecord>& records) {
  std::string text = fmt::format("{:<9}{:>12}{:>12}{:>9}{:>9}{:>8}  {:<8}{}\n", "system", "load",
                                 "achieved", "p50 us", "p99 us", "lost", "rig", "load");
  for (const record::RunRecord& record : records) {
    const record::LatencyRecord& latency = record.mode == "open" ? record.response : record.service;
    const std::uint64_t lost = record.books.scheduled - record.books.ok;
    const double share =
        record.books.scheduled > 0
            ? static_cast<double>(lost) / static_cast<double>(record.books.scheduled)
            : 0;
    text += fmt::format("{:<9}{:>12}{:>12}{:>9}{:>9}{:>8}  {:<8}{}\n", record.system,
                        load_of(record), rate_text(record.window.achieved_per_s),
                        micros_text(latency.quantiles[0]), micros_text(latency.quantiles[2]),
                        percent_text(share), record.rig.status, record.load.status);
  }
  return text;
}

}  // namespace raftperf::report
