// SPDX-License-Identifier: Apache-2.0
#include "stub/state.h"

namespace raftperf::stub {
namespace {

constexpr std::size_t kKeysExpected = 1U << 16U;

}  // namespace

State::State() { values_.reserve(kKeysExpected); }

std::uint64_t State::append(std::span<const std::byte> payload) noexcept {
  checksum_ += wire::mix_append(payload);
  return ++operation_count_;
}

State::Compared State::compare_and_set(const wire::CompareAndSet& request) {
  const Compared after = peek(request);
  // A key that keeps its 0 needs no place in the map.
  if (after.matched && request.desired != request.expected) {
    values_[request.key] = request.desired;
  }
  checksum_ += wire::mix_compare_and_set(request, after.value);
  ++operation_count_;
  return after;
}

State::Compared State::mismatch(const wire::CompareAndSet& request) noexcept {
  const std::uint64_t value = get(request.key);
  checksum_ += wire::mix_compare_and_set(request, value);
  ++operation_count_;
  return {.matched = false, .value = value};
}

State::Compared State::peek(const wire::CompareAndSet& request) const noexcept {
  const std::uint64_t value = get(request.key);
  const bool matched = value == request.expected;
  return {.matched = matched, .value = matched ? request.desired : value};
}

std::uint64_t State::get(std::uint64_t key) const noexcept {
  const auto found = values_.find(key);
  return found == values_.end() ? 0 : found->second;
}

}  // namespace raftperf::stub
