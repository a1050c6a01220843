// SPDX-License-Identifier: Apache-2.0
//
// The wire protocol's frames (wire/SPEC.md): plain functions over byte spans, no
// I/O, no allocation but for error texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace raftperf::wire {

inline constexpr std::uint16_t kVersion = 1;
inline constexpr std::uint64_t kMagic = 0x4552495754464152;
inline constexpr std::size_t kHeaderSize = 16;
inline constexpr std::uint32_t kBodyLengthMax = 1U << 20U;
inline constexpr std::size_t kFrameSizeMax = kHeaderSize + kBodyLengthMax;
inline constexpr std::size_t kErrorTextMax = 1024;
inline constexpr std::size_t kHelloRequestSize = 12;
inline constexpr std::size_t kHelloReplySize = 20;
inline constexpr std::size_t kCompareAndSetSize = 24;
inline constexpr std::size_t kNodeStatusSize = 64;
inline constexpr std::int32_t kNoNode = -1;

enum class Kind : std::uint8_t {
  kHello = 1,
  kAppend = 2,
  kCompareAndSet = 3,
  kGet = 4,
  kStatus = 5,
  kTransferLeader = 6,
};

enum class Status : std::uint8_t {
  kOk = 0,
  kMismatch = 1,   ///< Committed and answered; the comparison failed.
  kNotLeader = 2,  ///< Certainly not applied.
  kBusy = 3,       ///< Certainly not applied.
  kError = 4,      ///< Certainly not applied.
};

enum class Role : std::uint8_t { kFollower = 0, kCandidate = 1, kLeader = 2, kUnavailable = 3 };

/// The name of each, as in SPEC.md.
std::string_view to_string(Kind kind) noexcept;
std::string_view to_string(Status status) noexcept;
std::string_view to_string(Role role) noexcept;

/// SPEC.md section 5.
struct NodeStatus {
  std::int32_t node = kNoNode;
  Role role = Role::kUnavailable;
  std::int32_t leader = kNoNode;
  std::uint64_t term = 0;
  std::uint64_t commit_index = 0;
  std::uint64_t applied_index = 0;
  std::uint64_t operation_count = 0;
  std::uint64_t checksum = 0;
  std::uint64_t run_token = 0;

  friend bool operator==(const NodeStatus&, const NodeStatus&) = default;
};

struct HelloRequest {
  std::uint64_t magic = kMagic;
  std::uint16_t version_min = kVersion;
  std::uint16_t version_max = kVersion;
};

struct HelloReply {
  std::uint16_t version = kVersion;
  std::int32_t node = kNoNode;
  std::uint64_t run_token = 0;
  std::uint32_t body_length_max = kBodyLengthMax;
};

struct CompareAndSet {
  std::uint64_t key = 0;
  std::uint64_t expected = 0;
  std::uint64_t desired = 0;
};

// Little-endian loads and stores. Every machine this runs on is little-endian; the
// static_assert in frame.cc holds that assumption.
template <typename T>
[[nodiscard]] inline T load(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <typename T>
inline void store(std::byte* to, T value) noexcept {
  std::memcpy(to, &value, sizeof value);
}

/// One frame, as a view into the buffer it was parsed from.
struct Frame {
  Kind kind = Kind::kHello;
  bool is_reply = false;
  Status status = Status::kOk;
  std::uint64_t correlation_id = 0;
  std::span<const std::byte> body;
};

enum class ParseResult : std::uint8_t {
  kFrame,      ///< `frame` is filled; `frame_size` bytes belong to it.
  kNeedMore,   ///< The buffer holds only the beginning of a frame.
  kMalformed,  ///< `reason` says why; the connection must be closed.
};

struct Parsed {
  ParseResult result = ParseResult::kNeedMore;
  std::size_t frame_size = 0;
  Frame frame;
  std::string_view reason;  ///< Static text.
};

/// Parses the frame at the start of `buffer`, its body length checked against its
/// kind and status, its reserved fields against 0 (SPEC.md section 6). A fault in the
/// header is found as soon as the header is there.
[[nodiscard]] Parsed parse_frame(std::span<const std::byte> buffer) noexcept;

/// Writes a frame's 16-byte header to `to`.
inline void put_request_header(std::byte* to, Kind kind, std::uint64_t correlation_id,
                               std::uint32_t body_length) noexcept {
  store<std::uint32_t>(to, body_length);
  store<std::uint32_t>(to + 4, static_cast<std::uint32_t>(kind));
  store<std::uint64_t>(to + 8, correlation_id);
}
inline void put_reply_header(std::byte* to, Kind kind, Status status, std::uint64_t correlation_id,
                             std::uint32_t body_length) noexcept {
  store<std::uint32_t>(to, body_length);
  store<std::uint32_t>(to + 4, (static_cast<std::uint32_t>(kind) | 0x80U) |
                                   (static_cast<std::uint32_t>(status) << 8U));
  store<std::uint64_t>(to + 8, correlation_id);
}

// Bodies. Each `put_` writes a fixed number of bytes (SPEC.md sections 3 to 5) and
// returns it; each `get_` REQUIRES a body that `parse_frame` accepted for its kind.
std::size_t put(std::byte* to, const HelloRequest& hello) noexcept;
std::size_t put(std::byte* to, const HelloReply& hello) noexcept;
std::size_t put(std::byte* to, const CompareAndSet& request) noexcept;
std::size_t put(std::byte* to, const NodeStatus& status) noexcept;
HelloRequest get_hello_request(std::span<const std::byte> body) noexcept;
HelloReply get_hello_reply(std::span<const std::byte> body) noexcept;
CompareAndSet get_compare_and_set(std::span<const std::byte> body) noexcept;
NodeStatus get_node_status(std::span<const std::byte> body) noexcept;

/// What one applied operation adds to a state's checksum (SPEC.md section 5).
[[nodiscard]] std::uint64_t mix_append(std::span<const std::byte> payload) noexcept;
[[nodiscard]] std::uint64_t mix_compare_and_set(const CompareAndSet& request,
                                                std::uint64_t value_after) noexcept;

}  // namespace raftperf::wire
