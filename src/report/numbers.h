// SPDX-License-Identifier: Apache-2.0
//
// The one place where numbers become text for people. A label with another unit or
// another precision elsewhere would be another number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace raftperf::report {

/// A count with separators: "1,234,567".
std::string count_text(std::uint64_t count);

/// ns as us without the unit: one decimal below 1,000 us, none from there on; "-" if absent.
std::string micros_text(std::optional<std::int64_t> ns);

/// Per second: "19,998.7/s", no decimals from 100,000/s on.
std::string rate_text(double per_second);

/// A share as per cent: "0.15 %", two decimals below 10 %.
std::string percent_text(double share);

/// A plain number with about four significant digits.
std::string number_text(double value);

}  // namespace raftperf::report
