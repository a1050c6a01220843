// SPDX-License-Identifier: Apache-2.0
#include "record/run_record.h"

namespace raftperf::record {
namespace {

template <typename Judgement>
JudgementRecord record_of(const Judgement& judgement) {
  JudgementRecord record{.status = std::string(load::to_string(judgement.status))};
  for (const load::Finding& finding : judgement.reasons) {
    record.reasons.push_back({.code = std::string(finding.code),
                              .measured = finding.measured,
                              .limit = finding.limit,
                              .unit = std::string(finding.unit),
                              .remedy = std::string(finding.remedy)});
  }
  return record;
}

std::optional<std::int64_t> count_of(std::optional<load::Duration> duration) {
  return duration ? std::optional(duration->count()) : std::nullopt;
}

}  // namespace

LatencyRecord summarize(const load::Histogram& histogram) {
  LatencyRecord record;
  record.count = histogram.count();
  for (std::size_t i = 0; i < load::kQuantiles.size(); ++i) {
    record.quantiles[i] = count_of(histogram.at(load::kQuantiles[i]));
    if (!histogram.empty() && load::is_thin(histogram.count(), load::kQuantiles[i])) {
      record.thin.emplace_back(load::kQuantiles[i].field);
    }
  }
  record.max = count_of(histogram.max());
  record.mean = histogram.mean_ns();
  return record;
}

void RunRecord::take(const load::Summary& summary, const load::RigJudgement& rig_judgement,
                     const load::LoadJudgement& load_judgement) {
  const bool open = summary.mode == load::LoadMode::kOpen;
  mode = open ? "open" : "closed";
  window.warmup_s = std::chrono::duration<double>(summary.window.start).count();
  window.measure_s = summary.measure_s();
  if (summary.offered) {
    window.offered_per_s = summary.offered->per_second();
  }
  window.achieved_per_s = summary.achieved_per_s();
  window.interrupted = summary.interrupted;
  books = summary.books;
  warmup_books = summary.warmup_books;
  counts = summary.counts;
  late_replies = summary.late_replies;
  if (open) {
    response = summarize(summary.histograms.response);
    lag = summarize(summary.histograms.lag);
    burst_lag = summarize(summary.histograms.burst_lag);
  }
  service = summarize(summary.histograms.service);
  held = summarize(summary.histograms.held);
  turn_gap = summarize(summary.turn_gap);
  for (std::size_t i = 0; i < load::kQuantiles.size(); ++i) {
    if_lost_were_infinite[i] = count_of(summary.at_if_lost_were_infinite(load::kQuantiles[i]));
  }
  little_ratio = summary.little_ratio();
  in_flight_mean = summary.in_flight_mean();
  client.busy_share = summary.busy_share;
  rig = record_of(rig_judgement);
  load = record_of(load_judgement);
  verification.acknowledged = summary.acknowledged;
  verification.unknown = summary.unknown;
}

}  // namespace raftperf::record
