// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace raftperf::cli {

/// How a command's result is printed.
enum class Output { kText, kJson };

/// As fmt::print, which throws where the disk is full or the reader has gone: that must
/// not end a run. The stream keeps its error, and `main` makes no success of it.
template <typename... Args>
void say(std::FILE* stream, fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  (void)std::fwrite(text.data(), 1, text.size(), stream);
}

}  // namespace raftperf::cli
