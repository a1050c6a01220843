// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/check.h"

namespace raftperf {

/// Why something could not be done, as one line for a person. No final dot, no newline.
struct Error {
  std::string message;
};

/// A value, or the reason why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}      // NOLINT: implicit on purpose
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit on purpose

  [[nodiscard]] bool ok() const noexcept { return value_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }

  /// REQUIRES: ok().
  T& value() & {
    CHECK(ok());
    return *value_;
  }
  const T& value() const& {
    CHECK(ok());
    return *value_;
  }
  T&& value() && {
    CHECK(ok());
    return *std::move(value_);
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// REQUIRES: !ok().
  [[nodiscard]] const std::string& error() const {
    CHECK(!ok());
    return error_.message;
  }

 private:
  std::optional<T> value_;
  Error error_;
};

/// Done, or the reason why not.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit on purpose

  [[nodiscard]] bool ok() const noexcept { return !error_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }
  [[nodiscard]] const std::string& error() const {
    CHECK(!ok());
    return error_->message;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace raftperf
