// SPDX-License-Identifier: Apache-2.0
#include "load/operation.h"

#include <cstring>

namespace raftperf::load {

void write_payload(const Operation& operation, std::span<std::byte> out) noexcept {
  std::uint64_t word = operation.value;
  std::size_t at = 0;
  for (; at + sizeof word <= out.size(); at += sizeof word) {
    std::memcpy(out.data() + at, &word, sizeof word);
    word = word * 0x9E3779B97F4A7C15U + 0x632BE59BD9B4E019U;
  }
  if (at < out.size()) {
    std::memcpy(out.data() + at, &word, out.size() - at);
  }
}

std::string_view to_string(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::kOk:
      return "ok";
    case Outcome::kRejected:
      return "rejected";
    case Outcome::kUnknown:
      return "unknown";
  }
  return "?";
}

std::string_view to_string(Reason reason) noexcept {
  switch (reason) {
    case Reason::kOk:
      return "ok";
    case Reason::kMismatch:
      return "mismatch";
    case Reason::kNotLeader:
      return "not_leader";
    case Reason::kBusy:
      return "busy";
    case Reason::kApplyFailed:
      return "apply_failed";
    case Reason::kError:
      return "error";
    case Reason::kTimeout:
      return "timeout";
    case Reason::kLost:
      return "lost";
  }
  return "?";
}

std::string_view to_string(OperationKind kind) noexcept {
  switch (kind) {
    case OperationKind::kAppend:
      return "append";
    case OperationKind::kCompareAndSet:
      return "compare_and_set";
    case OperationKind::kSet:
      return "set";
    case OperationKind::kEcho:
      return "echo";
  }
  return "?";
}

}  // namespace raftperf::load
