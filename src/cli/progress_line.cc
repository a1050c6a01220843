// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

namespace raftperf::cli {

ProgressLine::ProgressLine(Output output)
    : stream_(output == Output::kJson ? stderr : stdout), live_(::isatty(::fileno(stream_)) == 1) {}

void ProgressLine::show(const run::Progress& progress) {
  const std::lock_guard lock(mutex_);
  const double seconds = std::chrono::duration<double>(progress.elapsed).count();
  const std::string latency =
      progress.latency_us ? fmt::format("{:.0f}", *progress.latency_us) : "-";
  const std::string text =
      fmt::format("{:5.0f} s {:<11} at qps={:.0f} latency={} in flight {}", seconds,
                  to_string(progress.phase), progress.qps, latency, progress.in_flight);
  if (live_) {
    say(stream_, "\r\x1b[K{}", text);
    open_line_ = true;
  } else {
    say(stream_, "{}\n", text);
  }
  std::fflush(stream_);
}

void ProgressLine::notice(const std::string& text) {
  const std::lock_guard lock(mutex_);
  close_line();
  say(stderr, "raftperf: {}\n", text);
}

void ProgressLine::close() {
  const std::lock_guard lock(mutex_);
  close_line();
}

void ProgressLine::close_line() {
  if (open_line_) {
    say(stream_, "\r\x1b[K");
    std::fflush(stream_);
    open_line_ = false;
  }
}

run::SessionCallbacks ProgressLine::callbacks() {
  return {.progress = [this](const run::Progress& now) { show(now); },
          .notice = [this](const std::string& text) { notice(text); }};
}

}  // namespace raftperf::cli
