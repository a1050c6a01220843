// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>

namespace raftperf {

/// How a value looks in the message of a failed check.
template <typename T>
std::string check_text(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<long long>(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(value);
  } else if constexpr (std::is_convertible_v<T, std::string>) {
    return std::string(value);
  } else {
    return "?";
  }
}

[[noreturn]] inline void check_failed(const char* file, int line, const char* condition,
                                      const std::string& values) {
  std::fprintf(stderr, "raftperf: bug: %s:%d: check failed: %s%s\n", file, line, condition,
               values.c_str());
  std::abort();
}

}  // namespace raftperf

/// A bug of ours ends the program, in release builds too: no number is better
/// than a wrong one. Never for a user's mistake and never for what the world does.
#define CHECK(condition)                                            \
  do {                                                              \
    if (!(condition)) [[unlikely]]                                  \
      ::raftperf::check_failed(__FILE__, __LINE__, #condition, ""); \
  } while (false)

#define CHECK_EQ(a, b)                                                                         \
  do {                                                                                         \
    const auto& check_a = (a);                                                                 \
    const auto& check_b = (b);                                                                 \
    if (!(check_a == check_b)) [[unlikely]]                                                    \
      ::raftperf::check_failed(                                                                \
          __FILE__, __LINE__, #a " == " #b,                                                    \
          ": " + ::raftperf::check_text(check_a) + " and " + ::raftperf::check_text(check_b)); \
  } while (false)
