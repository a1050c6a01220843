// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/file_descriptor.h"
#include "net/endpoint.h"
#include "wire/cpp/frame.h"

namespace raftperf::stub {

using Bytes = std::vector<std::byte>;

/// Requests as bytes.
Bytes hello_request();
Bytes request(wire::Kind kind, std::uint64_t id, std::span<const std::byte> body = {});
/// Appends of one byte with the ids from `first` on.
Bytes append_requests(std::uint64_t first, std::uint64_t count);
Bytes operator+(Bytes left, const Bytes& right);

/// A reply that owns its body, and when it was read.
struct OwnedReply {
  wire::Kind kind;
  wire::Status status;
  std::uint64_t id;
  Bytes body;
  std::chrono::steady_clock::time_point read_at;
};

/// For tests: one connection to which any bytes may be sent. Every wait is bounded by
/// 30 s, after which the test fails. One thread.
class RawClient {
 public:
  explicit RawClient(const net::Endpoint& endpoint);

  /// Sends all, waiting for room.
  void send(std::span<const std::byte> bytes);
  /// Sends what there is room for.
  std::size_t send_some(std::span<const std::byte> bytes);

  /// The next `count` replies, or fewer where the connection ends before.
  std::vector<OwnedReply> read(std::size_t count);

  /// Whether the server has closed the connection with nothing more to read. Waits for
  /// either.
  bool ends();

 private:
  /// The next reply; none if the connection has ended.
  std::optional<OwnedReply> next();

  FileDescriptor socket_;
  Bytes received_;
  std::size_t read_ = 0;  ///< How much of `received_` has been returned.
};

}  // namespace raftperf::stub
