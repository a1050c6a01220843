// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "net/endpoint.h"
#include "wire/cpp/frame.h"

namespace raftperf::wire {

/// One answer. Which of the fields means something is said by kind and status
/// (wire/SPEC.md sections 3 and 4).
struct Reply {
  Status status = Status::kOk;
  std::uint64_t value = 0;      ///< Log index, or the key's value (also of a mismatch).
  std::int32_t hint = kNoNode;  ///< Of not_leader.
  std::string error_text;       ///< Of error.
  NodeStatus node_status;       ///< Of status.
};

/// A blocking client for control traffic, one request outstanding: status, readiness,
/// leader transfer, verification. Not for load, and for one thread.
///
/// An Error means that no answer came: time-out, closed or malformed. The request may
/// then have been applied, and the client is closed, since an answer that came later
/// could not be told from the next one's.
class Client {
 public:
  using Timeout = std::chrono::milliseconds;

  /// Connects and says hello, both within `timeout`.
  static Result<Client> connect(const net::Endpoint& endpoint, Timeout timeout);

  /// What the server said of itself.
  [[nodiscard]] const HelloReply& hello() const noexcept { return hello_; }

  /// False once a call has returned an Error.
  [[nodiscard]] bool is_open() const noexcept { return socket_.valid(); }

  Result<Reply> status(Timeout timeout);
  /// REQUIRES: 1 to kBodyLengthMax bytes.
  Result<Reply> append(std::span<const std::byte> payload, Timeout timeout);
  Result<Reply> compare_and_set(const CompareAndSet& request, Timeout timeout);
  Result<Reply> get(std::uint64_t key, Timeout timeout);
  Result<Reply> transfer_leader(std::int32_t node, Timeout timeout);

 private:
  using TimePoint = std::chrono::steady_clock::time_point;

  Client(FileDescriptor socket, std::string peer)
      : socket_(std::move(socket)), peer_(std::move(peer)) {}

  Result<void> say_hello(TimePoint deadline);
  Result<Reply> call(Kind kind, std::span<const std::byte> body, Timeout timeout);
  /// The reply's frame; its body is a view into `received_` until the next call.
  Result<Frame> exchange(Kind kind, std::span<const std::byte> body, TimePoint deadline);
  Result<void> send_request(Kind kind, std::span<const std::byte> body, TimePoint deadline);
  Result<Frame> receive_reply(Kind kind, TimePoint deadline);
  Result<void> wait_for(short events, TimePoint deadline);
  /// Closes the connection; the error names the peer.
  Error give_up(std::string_view why);

  FileDescriptor socket_;
  std::string peer_;
  HelloReply hello_;
  std::uint64_t last_id_ = 0;
  std::vector<std::byte> received_;
  std::vector<std::byte> request_;
};

}  // namespace raftperf::wire
