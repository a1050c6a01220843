// SPDX-License-Identifier: Apache-2.0
#include "report/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace raftperf::report {
namespace {

/// Puts separators into the integer part of a decimal number.
std::string separated(std::string digits) {
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  std::size_t at = std::min(digits.find('.'), digits.size());
  while (at > first + 3) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

}  // namespace

std::string count_text(std::uint64_t count) { return separated(std::to_string(count)); }

std::string micros_text(std::optional<std::int64_t> ns) {
  if (!ns) {
    return "-";
  }
  const double us = static_cast<double>(*ns) / 1e3;
  return separated(us < 999.95 ? fmt::format("{:.1f}", us) : fmt::format("{:.0f}", us));
}

std::string rate_text(double per_second) {
  return separated(per_second < 99'999.95 ? fmt::format("{:.1f}", per_second)
                                          : fmt::format("{:.0f}", per_second)) +
         "/s";
}

std::string percent_text(double share) {
  const double percent = 100 * share;
  return fmt::format("{:.{}f} %", percent, std::abs(percent) < 9.995 ? 2 : 1);
}

std::string number_text(double value) {
  if (std::abs(value) >= 999.95) {
    return separated(fmt::format("{:.0f}", value));
  }
  return fmt::format("{:.4g}", value);
}

}  // namespace raftperf::report
