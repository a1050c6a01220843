// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/run_record.h"

namespace raftperf::record {

/// Where one run's files go. Made before anything starts, so that a place that cannot
/// be written costs no measurement.
class ResultsFolder {
 public:
  /// `results/<utc>-<system>-<what>`, or the folder that the user named, which must be
  /// new or empty. `what` is "open-20000" or "closed-100".
  static Result<ResultsFolder> create(const std::optional<std::filesystem::path>& named,
                                      const std::string& system, const std::string& what,
                                      std::chrono::system_clock::time_point now);

  [[nodiscard]] std::filesystem::path file(const std::string& name) const { return path_ / name; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  /// Writes run.json whole: a reader sees the old file or the new one.
  Result<void> write(const RunRecord& record) const;

  /// An INVALID rig cannot lose its label: the folder's name gets `.INVALID` at its
  /// end, or a file INVALID in it where the user chose the name.
  Result<void> mark_invalid();

  /// Removes our files from a folder in which nothing was measured, and every folder that
  /// was made for the run and holds nothing else.
  void discard() noexcept;

 private:
  enum class Naming { kOurs, kUsers };
  ResultsFolder(std::filesystem::path path, Naming naming, std::vector<std::filesystem::path> made)
      : path_(std::move(path)), naming_(naming), made_(std::move(made)) {}

  std::filesystem::path path_;
  Naming naming_;
  std::vector<std::filesystem::path> made_;  ///< Itself and what is above it, innermost first.
};

/// Writes a file next to `path`, syncs it and renames it into place.
Result<void> write_whole(const std::filesystem::path& path, const std::string& text);

/// Reads a run.json.
Result<RunRecord> read_record(const std::filesystem::path& path);

}  // namespace raftperf::record
