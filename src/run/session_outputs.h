// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "record/histogram_log.h"
#include "record/results_folder.h"
#include "record/timeline.h"
#include "run/observer.h"
#include "run/session.h"

namespace raftperf::run {

/// The files of one session. Opened before anything is started; what is written while
/// the run goes on is on disk second by second, so that a run cut short keeps them. A
/// disk that fills up costs the files, not the run: it is said once.
class SessionOutputs {
 public:
  using Notice = std::function<void(const std::string&)>;

  /// A place that cannot be written is an error that names the option.
  static Result<SessionOutputs> create(const SessionOptions& options, Notice notice);

  // On the observer's thread.
  void on_window_start() { window_start_utc_ = std::chrono::system_clock::now(); }
  void on_second(const SecondReport& second);

  /// The percentile distribution, where it was asked for.
  void write_distribution(const load::Summary& summary);
  /// Writes run.json, marks an INVALID run, and returns where it all is.
  std::filesystem::path finish(const record::RunRecord& record);
  /// Removes what `create` made: nothing was measured.
  void discard() noexcept;

 private:
  SessionOutputs(record::ResultsFolder folder, record::Timeline timeline,
                 const SessionOptions& options, Notice notice);
  void log_histograms(const load::Interval& interval);
  void note(const Result<void>& written);

  record::ResultsFolder folder_;
  record::Timeline timeline_;
  std::optional<record::HistogramLog> histogram_log_;
  std::optional<std::filesystem::path> hdr_out_;
  bool hdr_out_made_ = false;
  Notice notice_;
  bool closed_loop_;
  bool said_ = false;
  std::chrono::system_clock::time_point window_start_utc_;
};

}  // namespace raftperf::run
