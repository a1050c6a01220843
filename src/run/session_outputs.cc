// SPDX-License-Identifier: Apache-2.0
#include "run/session_outputs.h"

#include <fmt/format.h>

#include <fstream>

#include "base/units.h"

namespace raftperf::run {
namespace {

/// hdr_percentiles_print: lines per halving of the distance to 100 %, and ns to us.
constexpr int kTicksPerHalf = 5;
constexpr double kNanosPerMicro = 1000.0;

std::string name_of(const RunPlan& plan) {
  return plan.mode == load::LoadMode::kOpen
             ? fmt::format("open-{}", format_rate(plan.schedule.rate.count))
             : fmt::format("closed-{}", plan.outstanding);
}

}  // namespace

Result<SessionOutputs> SessionOutputs::create(const SessionOptions& options, Notice notice) {
  auto folder = record::ResultsFolder::create(options.out, options.system, name_of(options.plan),
                                              std::chrono::system_clock::now());
  if (!folder) {
    return Error{"--out: " + folder.error()};
  }
  auto timeline = record::Timeline::create(folder->file("timeline.csv"));
  if (!timeline) {
    folder->discard();
    return Error{"--out: " + timeline.error()};
  }
  std::error_code ignored;
  const bool hdr_out_made = options.hdr_out && !std::filesystem::exists(*options.hdr_out, ignored);
  // To append loses nothing where the run then comes to nothing.
  if (options.hdr_out && !std::ofstream(*options.hdr_out, std::ios::app)) {
    folder->discard();
    return Error{fmt::format("--hdr-out: {}: cannot be written", options.hdr_out->string())};
  }
  SessionOutputs outputs(*std::move(folder), *std::move(timeline), options, std::move(notice));
  outputs.hdr_out_made_ = hdr_out_made;
  return outputs;
}

void SessionOutputs::discard() noexcept {
  if (hdr_out_made_) {
    std::error_code ignored;
    std::filesystem::remove(*hdr_out_, ignored);
  }
  folder_.discard();
}

SessionOutputs::SessionOutputs(record::ResultsFolder folder, record::Timeline timeline,
                               const SessionOptions& options, Notice notice)
    : folder_(std::move(folder)),
      timeline_(std::move(timeline)),
      hdr_out_(options.hdr_out),
      notice_(std::move(notice)),
      closed_loop_(options.plan.mode == load::LoadMode::kClosed) {}

void SessionOutputs::on_second(const SecondReport& second) {
  const load::Interval& interval = second.interval;
  record::TimelineRow row{.second = interval.index,
                          .phase = interval.phase,
                          .interval = &interval,
                          .closed_loop = closed_loop_,
                          .ok_by_completion = second.ok_by_completion,
                          .in_flight_mean = second.in_flight_mean};
  if (second.leader != load::kNoNode) {
    row.leader = second.leader;
  }
  if (second.term != 0) {
    row.term = second.term;
  }
  note(timeline_.write(row));
  if (interval.phase == load::Phase::kMeasurement) {
    log_histograms(interval);
  }
}

void SessionOutputs::log_histograms(const load::Interval& interval) {
  if (!histogram_log_) {
    // With the first second of the window, whose start is the log's.
    auto log = record::HistogramLog::create(folder_.file("run.hlog"), window_start_utc_);
    if (!log) {
      note(Error{log.error()});
      return;
    }
    histogram_log_ = *std::move(log);
  }
  const auto write = [&](std::string_view tag, const load::Histogram& histogram) {
    note(histogram_log_->write(tag, interval.index * load::kIntervalLength, load::kIntervalLength,
                               histogram));
  };
  write("service", interval.histograms.service);
  if (!closed_loop_) {
    write("response", interval.histograms.response);
    write("lag", interval.histograms.lag);
  }
}

void SessionOutputs::write_distribution(const load::Summary& summary) {
  if (!hdr_out_) {
    return;
  }
  std::FILE* file = std::fopen(hdr_out_->c_str(), "we");
  const bool written =
      file != nullptr && hdr_percentiles_print(summary.reported().hdr(), file, kTicksPerHalf,
                                               kNanosPerMicro, CLASSIC) == 0;
  if ((file != nullptr && std::fclose(file) != 0) || !written) {
    note(Error{fmt::format("{}: cannot be written", hdr_out_->string())});
  }
}

std::filesystem::path SessionOutputs::finish(const record::RunRecord& record) {
  note(folder_.write(record));
  if (record.rig.status == load::to_string(load::RigStatus::kInvalid)) {
    note(folder_.mark_invalid());
  }
  return folder_.path();
}

void SessionOutputs::note(const Result<void>& written) {
  if (!written && !said_) {
    said_ = true;
    notice_("a result file is incomplete: " + written.error());
  }
}

}  // namespace raftperf::run
