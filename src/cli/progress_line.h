// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <mutex>
#include <string>

#include "cli/output.h"
#include "run/session.h"

namespace raftperf::cli {

/// One live line on a terminal; in a pipe one line a second. On standard error where
/// standard output carries JSON. Thread-safe.
class ProgressLine {
 public:
  explicit ProgressLine(Output output);

  void show(const run::Progress& progress);
  /// One line for a person, on standard error.
  void notice(const std::string& text);
  /// Takes the live line away, so that a result can be printed.
  void close();

  /// Both of the above for a session. This object must outlive it.
  run::SessionCallbacks callbacks();

 private:
  void close_line();

  std::mutex mutex_;
  std::FILE* stream_;
  bool live_;
  bool open_line_ = false;
};

}  // namespace raftperf::cli
