// SPDX-License-Identifier: Apache-2.0
//
// Numbers with units, as people type them in options and files. Every parser is
// exact (decimal arithmetic, no floating point), reads the whole text or refuses
// it, and names what it read and examples in its error; the caller puts the
// option's name in front. Never accepted: signs, blanks, nan, inf, "1_000",
// "1,000", a digit after a suffix ("1k5").
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace raftperf {

/// The highest rate that `parse_rate` takes: 10^9 a second, in micro-hertz.
inline constexpr std::uint64_t kRateMicroHertzMax = 1'000'000'000'000'000;

/// A duration: "30" (a bare number is seconds), "30s", "500ms", "50us", "10ns",
/// "2m", "1h", "1.5s", "1m30s" (units falling, a fraction only in the last part).
/// 0 is a duration; finer than 1 ns or above 292 years is refused.
Result<std::chrono::nanoseconds> parse_duration(std::string_view text);

/// A rate in micro-hertz: "1000", "0.5", "20k", "1M", "1e3", each with or without
/// "/s". k and K are 1,000 and M 1,000,000: rates are decimal. Refused: 0, finer
/// than a micro-hertz, above kRateMicroHertzMax, "Ki".
Result<std::uint64_t> parse_rate(std::string_view text);

/// A whole number from 0: "1000", "20k", "1M", "1e3"; k, K and M as in a rate.
Result<std::uint64_t> parse_count(std::string_view text);

/// A size in bytes: "64", "1k" = "1K" = 1,000, "1Ki" = 1,024, M, Mi, G, Gi, each
/// with or without a final "B".
Result<std::uint64_t> parse_size(std::string_view text);

/// The shortest text that `parse_duration` reads back, in one unit: "1500ms", "30s".
std::string format_duration(std::chrono::nanoseconds duration);

/// The shortest decimal of a rate, without suffix: "0.5", "1000".
std::string format_rate(std::uint64_t micro_hertz);

}  // namespace raftperf
