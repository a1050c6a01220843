// SPDX-License-Identifier: Apache-2.0
#include "base/units.h"

#include <array>
#include <limits>
#include <optional>
#include <span>

namespace raftperf {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr int kDigitsMax = 20;     // As many as 2^64 - 1 has.
constexpr int kExponentMax = 100;  // Far above every limit; keeps "1e999999999" an int.

struct Unit {
  std::string_view suffix;
  std::uint64_t factor;
};

/// digits * 10^exponent
struct Decimal {
  std::uint64_t digits = 0;
  int exponent = 0;
};

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Takes as many digits as there are from the front of `text`.
std::string_view take_digits(std::string_view& text) noexcept {
  std::size_t length = 0;
  while (length < text.size() && is_digit(text[length])) {
    ++length;
  }
  const std::string_view digits = text.substr(0, length);
  text.remove_prefix(length);
  return digits;
}

/// Takes "12" or "12.5" from the front; none for ".5", "5." or too many digits.
std::optional<Decimal> take_decimal(std::string_view& text) noexcept {
  const std::string_view whole = take_digits(text);
  std::string_view fraction;
  if (whole.empty()) {
    return std::nullopt;
  }
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    fraction = take_digits(text);
    if (fraction.empty()) {
      return std::nullopt;
    }
    fraction = fraction.substr(0, fraction.find_last_not_of('0') + 1);
  }
  Wide digits = 0;
  int significant = 0;
  for (const std::string_view part : {whole, fraction}) {
    for (const char c : part) {
      digits = digits * 10 + static_cast<unsigned>(c - '0');
      significant += digits != 0 ? 1 : 0;
      if (significant > kDigitsMax || digits > std::numeric_limits<std::uint64_t>::max()) {
        return std::nullopt;
      }
    }
  }
  return Decimal{.digits = static_cast<std::uint64_t>(digits),
                 .exponent = -static_cast<int>(fraction.size())};
}

/// Takes "e3", "e+3" or "e-3" from the front; 0 if there is none.
std::optional<int> take_exponent(std::string_view& text) noexcept {
  if (text.empty() || (text.front() != 'e' && text.front() != 'E')) {
    return 0;
  }
  text.remove_prefix(1);
  const bool negative = !text.empty() && text.front() == '-';
  if (negative || (!text.empty() && text.front() == '+')) {
    text.remove_prefix(1);
  }
  const std::string_view digits = take_digits(text);
  if (digits.empty()) {
    return std::nullopt;
  }
  int exponent = 0;
  for (const char c : digits) {
    exponent = exponent * 10 + (c - '0');
    if (exponent > kExponentMax) {
      return std::nullopt;
    }
  }
  return negative ? -exponent : exponent;
}

/// `decimal` in units of 1/factor; none unless that is a whole number of 64 bits.
std::optional<std::uint64_t> scale(Decimal decimal, std::uint64_t factor) noexcept {
  Wide value = static_cast<Wide>(decimal.digits) * factor;
  for (int i = 0; i < decimal.exponent && value != 0; ++i) {
    value *= 10;
    if (value > std::numeric_limits<std::uint64_t>::max()) {
      return std::nullopt;
    }
  }
  for (int i = 0; i > decimal.exponent && value != 0; --i) {
    if (value % 10 != 0) {
      return std::nullopt;
    }
    value /= 10;
  }
  if (value > std::numeric_limits<std::uint64_t>::max()) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(value);
}

std::optional<Unit> find_unit(std::span<const Unit> units, std::string_view suffix) noexcept {
  for (const Unit& unit : units) {
    if (unit.suffix == suffix) {
      return unit;
    }
  }
  return std::nullopt;
}

/// A decimal with an exponent or one of `units`, in units of 1/scale_factor.
std::optional<std::uint64_t> parse_scaled(std::string_view text, std::span<const Unit> units,
                                          std::uint64_t scale_factor) noexcept {
  auto decimal = take_decimal(text);
  if (!decimal) {
    return std::nullopt;
  }
  const auto exponent = take_exponent(text);
  const auto unit = find_unit(units, text);
  if (!exponent || !unit || (*exponent != 0 && !text.empty())) {
    return std::nullopt;
  }
  decimal->exponent += *exponent;
  return scale(*decimal, unit->factor * scale_factor);
}

Error refuse(std::string_view text, std::string_view what) {
  std::string message = "'";
  // What was typed may be anything; a terminal should survive the message.
  for (const char c : text.substr(0, 64)) {
    message += c >= ' ' && c <= '~' ? c : '?';
  }
  return Error{message.append("': ").append(what)};
}

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::array<Unit, 6> kDurationUnits{{
    {"h", 3600 * kSecond},
    {"m", 60 * kSecond},
    {"s", kSecond},
    {"ms", 1'000'000},
    {"us", 1'000},
    {"ns", 1},
}};
constexpr std::array<Unit, 4> kDecimalUnits{
    {{"", 1}, {"k", 1'000}, {"K", 1'000}, {"M", 1'000'000}}};
constexpr std::array<Unit, 8> kSizeUnits{{{"", 1},
                                          {"k", 1'000},
                                          {"K", 1'000},
                                          {"M", 1'000'000},
                                          {"G", 1'000'000'000},
                                          {"Ki", 1ULL << 10U},
                                          {"Mi", 1ULL << 20U},
                                          {"Gi", 1ULL << 30U}}};

/// Letters from the front of `text`, up to the next digit or the end.
std::string_view take_suffix(std::string_view& text) noexcept {
  std::size_t length = 0;
  while (length < text.size() && !is_digit(text[length])) {
    ++length;
  }
  const std::string_view suffix = text.substr(0, length);
  text.remove_prefix(length);
  return suffix;
}

std::optional<std::uint64_t> duration_ns(std::string_view text) noexcept {
  std::uint64_t total = 0;
  std::uint64_t last_factor = std::numeric_limits<std::uint64_t>::max();
  bool first = true;
  do {
    const auto decimal = take_decimal(text);
    if (!decimal) {
      return std::nullopt;
    }
    const std::string_view suffix = take_suffix(text);
    const bool bare = suffix.empty() && first && text.empty();
    const auto unit = bare ? Unit{"", kSecond} : find_unit(kDurationUnits, suffix);
    if (!unit || unit->factor >= last_factor || (decimal->exponent != 0 && !text.empty())) {
      return std::nullopt;
    }
    const auto part = scale(*decimal, unit->factor);
    constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (!part || *part > kMax - total) {
      return std::nullopt;
    }
    total += *part;
    last_factor = unit->factor;
    first = false;
  } while (!text.empty());
  return total;
}

}  // namespace

Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  const auto ns = duration_ns(text);
  if (!ns) {
    return refuse(text, "not a duration; examples: 30 (seconds), 30s, 500ms, 50us, 10ns, 1m30s");
  }
  return std::chrono::nanoseconds{static_cast<std::int64_t>(*ns)};
}

Result<std::uint64_t> parse_rate(std::string_view text) {
  constexpr std::uint64_t kMicro = 1'000'000;
  std::string_view number = text;
  if (number.ends_with("/s")) {
    number.remove_suffix(2);
  }
  const auto micro_hertz = parse_scaled(number, kDecimalUnits, kMicro);
  if (!micro_hertz || *micro_hertz == 0 || *micro_hertz > kRateMicroHertzMax) {
    return refuse(text,
                  "not a rate from 0.000001 to 1000000000 a second; examples: 1000, 0.5, 20k, 1M, "
                  "1e3, 100/s (k = 1000)");
  }
  return *micro_hertz;
}

Result<std::uint64_t> parse_count(std::string_view text) {
  const auto count = parse_scaled(text, kDecimalUnits, 1);
  if (!count) {
    return refuse(text, "not a whole number from 0; examples: 1000, 20k, 1M (k = 1000)");
  }
  return *count;
}

Result<std::uint64_t> parse_size(std::string_view text) {
  std::string_view number = text;
  if (number.ends_with('B')) {
    number.remove_suffix(1);
  }
  const auto bytes = parse_scaled(number, kSizeUnits, 1);
  if (!bytes) {
    return refuse(text, "not a size in bytes; examples: 64, 1k (1000), 1Ki (1024), 1Mi");
  }
  return *bytes;
}

std::string format_duration(std::chrono::nanoseconds duration) {
  const bool negative = duration.count() < 0;
  const auto ns = negative ? 0 - static_cast<std::uint64_t>(duration.count())
                           : static_cast<std::uint64_t>(duration.count());
  // Hours and minutes are left out: "90s" is as short as "1m30s" and one number.
  for (const Unit& unit : std::span(kDurationUnits).subspan(2)) {
    if (ns % unit.factor == 0) {
      return (negative ? "-" : "") + std::to_string(ns / unit.factor).append(unit.suffix);
    }
  }
  return {};
}

std::string format_rate(std::uint64_t micro_hertz) {
  constexpr std::uint64_t kMicro = 1'000'000;
  std::string text = std::to_string(micro_hertz / kMicro);
  if (micro_hertz % kMicro != 0) {
    std::string fraction = std::to_string(kMicro + micro_hertz % kMicro);
    fraction.front() = '.';
    fraction.erase(fraction.find_last_not_of('0') + 1);
    text += fraction;
  }
  return text;
}

}  // namespace raftperf
