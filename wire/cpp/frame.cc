// SPDX-License-Identifier: Apache-2.0
#include "wire/cpp/frame.h"

#include <array>
#include <bit>

namespace raftperf::wire {
namespace {

static_assert(std::endian::native == std::endian::little);

Parsed malformed(std::string_view reason) noexcept {
  return Parsed{.result = ParseResult::kMalformed, .frame_size = 0, .frame = {}, .reason = reason};
}

bool request_body_fits(Kind kind, std::size_t length) noexcept {
  switch (kind) {
    case Kind::kHello:
      return length == kHelloRequestSize;
    case Kind::kAppend:
      return length >= 1;
    case Kind::kCompareAndSet:
      return length == kCompareAndSetSize;
    case Kind::kGet:
      return length == 8;
    case Kind::kStatus:
      return length == 0;
    case Kind::kTransferLeader:
      return length == 4;
  }
  return false;
}

bool ok_reply_body_fits(Kind kind, std::size_t length) noexcept {
  switch (kind) {
    case Kind::kHello:
      return length == kHelloReplySize;
    case Kind::kAppend:
    case Kind::kCompareAndSet:
    case Kind::kGet:
      return length == 8;
    case Kind::kStatus:
      return length == kNodeStatusSize;
    case Kind::kTransferLeader:
      return length == 0;
  }
  return false;
}

bool reply_body_fits(Kind kind, Status status, std::size_t length) noexcept {
  switch (status) {
    case Status::kOk:
      return ok_reply_body_fits(kind, length);
    case Status::kMismatch:
      return kind == Kind::kCompareAndSet && length == 8;
    case Status::kNotLeader:
      return length == 4;
    case Status::kBusy:
      return length == 0;
    case Status::kError:
      return length <= kErrorTextMax;
  }
  return false;
}

/// Reserved fields within a body; only these two replies have some.
bool reserved_is_zero(const Frame& frame) noexcept {
  if (!frame.is_reply || frame.status != Status::kOk) {
    return true;
  }
  const std::byte* body = frame.body.data();
  if (frame.kind == Kind::kHello) {
    return load<std::uint16_t>(body + 2) == 0;
  }
  if (frame.kind == Kind::kStatus) {
    return (load<std::uint32_t>(body + 4) & 0xFFFFFF00U) == 0 &&
           load<std::uint32_t>(body + 12) == 0;
  }
  return true;
}

std::uint64_t hash(std::uint64_t kind, std::span<const std::byte> bytes) noexcept {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  std::uint64_t x = 0xcbf29ce484222325 ^ kind;
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    x = (x ^ load<std::uint64_t>(bytes.data() + at)) * kMultiplier;
    x ^= x >> 32U;
  }
  if (at < bytes.size()) {
    std::uint64_t last = 0;
    std::memcpy(&last, bytes.data() + at, bytes.size() - at);
    x = (x ^ last) * kMultiplier;
    x ^= x >> 32U;
  }
  x = (x ^ bytes.size()) * kMultiplier;
  return x ^ (x >> 32U);
}

}  // namespace

std::string_view to_string(Kind kind) noexcept {
  switch (kind) {
    case Kind::kHello:
      return "hello";
    case Kind::kAppend:
      return "append";
    case Kind::kCompareAndSet:
      return "compare_and_set";
    case Kind::kGet:
      return "get";
    case Kind::kStatus:
      return "status";
    case Kind::kTransferLeader:
      return "transfer_leader";
  }
  return "unknown";
}

std::string_view to_string(Status status) noexcept {
  constexpr std::array<std::string_view, 5> kNames{"ok", "mismatch", "not_leader", "busy", "error"};
  const auto index = static_cast<std::size_t>(status);
  return index < kNames.size() ? kNames[index] : "unknown";
}

std::string_view to_string(Role role) noexcept {
  constexpr std::array<std::string_view, 4> kNames{"follower", "candidate", "leader",
                                                   "unavailable"};
  const auto index = static_cast<std::size_t>(role);
  return index < kNames.size() ? kNames[index] : "unknown";
}

Parsed parse_frame(std::span<const std::byte> buffer) noexcept {
  if (buffer.size() < kHeaderSize) {
    return Parsed{};
  }
  const auto body_length = load<std::uint32_t>(buffer.data());
  const auto kind_byte = load<std::uint8_t>(buffer.data() + 4);
  const auto status_byte = load<std::uint8_t>(buffer.data() + 5);
  if (body_length > kBodyLengthMax) {
    return malformed("body length above the maximum");
  }
  if (load<std::uint16_t>(buffer.data() + 6) != 0) {
    return malformed("reserved field is not 0");
  }
  const bool is_reply = (kind_byte & 0x80U) != 0;
  const auto kind = static_cast<Kind>(kind_byte & 0x7FU);
  if (kind < Kind::kHello || kind > Kind::kTransferLeader) {
    return malformed("unknown kind");
  }
  if (status_byte > static_cast<std::uint8_t>(Status::kError)) {
    return malformed("unknown status");
  }
  const auto status = static_cast<Status>(status_byte);
  if (!is_reply && status != Status::kOk) {
    return malformed("a request with a status");
  }
  if (is_reply ? !reply_body_fits(kind, status, body_length)
               : !request_body_fits(kind, body_length)) {
    return malformed("body length does not fit the kind");
  }
  const std::size_t frame_size = kHeaderSize + body_length;
  if (buffer.size() < frame_size) {
    return Parsed{};
  }
  const Frame frame{.kind = kind,
                    .is_reply = is_reply,
                    .status = status,
                    .correlation_id = load<std::uint64_t>(buffer.data() + 8),
                    .body = buffer.subspan(kHeaderSize, body_length)};
  if (!reserved_is_zero(frame)) {
    return malformed("reserved field is not 0");
  }
  return Parsed{
      .result = ParseResult::kFrame, .frame_size = frame_size, .frame = frame, .reason = {}};
}

std::size_t put(std::byte* to, const HelloRequest& hello) noexcept {
  store(to, hello.magic);
  store(to + 8, hello.version_min);
  store(to + 10, hello.version_max);
  return kHelloRequestSize;
}

std::size_t put(std::byte* to, const HelloReply& hello) noexcept {
  store(to, hello.version);
  store<std::uint16_t>(to + 2, 0);
  store(to + 4, hello.node);
  store(to + 8, hello.run_token);
  store(to + 16, hello.body_length_max);
  return kHelloReplySize;
}

std::size_t put(std::byte* to, const CompareAndSet& request) noexcept {
  store(to, request.key);
  store(to + 8, request.expected);
  store(to + 16, request.desired);
  return kCompareAndSetSize;
}

std::size_t put(std::byte* to, const NodeStatus& status) noexcept {
  std::memset(to, 0, kNodeStatusSize);
  store(to, status.node);
  store(to + 4, static_cast<std::uint8_t>(status.role));
  store(to + 8, status.leader);
  store(to + 16, status.term);
  store(to + 24, status.commit_index);
  store(to + 32, status.applied_index);
  store(to + 40, status.operation_count);
  store(to + 48, status.checksum);
  store(to + 56, status.run_token);
  return kNodeStatusSize;
}

HelloRequest get_hello_request(std::span<const std::byte> body) noexcept {
  return {.magic = load<std::uint64_t>(body.data()),
          .version_min = load<std::uint16_t>(body.data() + 8),
          .version_max = load<std::uint16_t>(body.data() + 10)};
}

HelloReply get_hello_reply(std::span<const std::byte> body) noexcept {
  return {.version = load<std::uint16_t>(body.data()),
          .node = load<std::int32_t>(body.data() + 4),
          .run_token = load<std::uint64_t>(body.data() + 8),
          .body_length_max = load<std::uint32_t>(body.data() + 16)};
}

CompareAndSet get_compare_and_set(std::span<const std::byte> body) noexcept {
  return {.key = load<std::uint64_t>(body.data()),
          .expected = load<std::uint64_t>(body.data() + 8),
          .desired = load<std::uint64_t>(body.data() + 16)};
}

NodeStatus get_node_status(std::span<const std::byte> body) noexcept {
  const auto role = load<std::uint8_t>(body.data() + 4);
  return {.node = load<std::int32_t>(body.data()),
          .role = role <= 3 ? static_cast<Role>(role) : Role::kUnavailable,
          .leader = load<std::int32_t>(body.data() + 8),
          .term = load<std::uint64_t>(body.data() + 16),
          .commit_index = load<std::uint64_t>(body.data() + 24),
          .applied_index = load<std::uint64_t>(body.data() + 32),
          .operation_count = load<std::uint64_t>(body.data() + 40),
          .checksum = load<std::uint64_t>(body.data() + 48),
          .run_token = load<std::uint64_t>(body.data() + 56)};
}

std::uint64_t mix_append(std::span<const std::byte> payload) noexcept {
  return hash(static_cast<std::uint64_t>(Kind::kAppend), payload);
}

std::uint64_t mix_compare_and_set(const CompareAndSet& request,
                                  std::uint64_t value_after) noexcept {
  std::array<std::byte, 32> bytes;
  put(bytes.data(), request);
  store(bytes.data() + 24, value_after);
  return hash(static_cast<std::uint64_t>(Kind::kCompareAndSet), bytes);
}

}  // namespace raftperf::wire
