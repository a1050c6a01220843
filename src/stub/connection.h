// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "stub/answer_queue.h"
#include "stub/counters.h"
#include "wire/cpp/server_session.h"

namespace raftperf::stub {

/// One client's connection: its socket, its protocol state, and the bytes that could
/// not be handled or sent yet. One thread; nothing here blocks.
class Connection {
 public:
  enum class Sent : std::uint8_t {
    kAll,      ///< Nothing is left to send.
    kBlocked,  ///< The socket is full; it will become writable.
    kBroken,   ///< The peer is gone.
  };

  Connection(FileDescriptor socket, ConnectionId id, const wire::HelloReply& hello)
      : socket_(std::move(socket)), id_(id), session_(hello) {}

  [[nodiscard]] int fd() const noexcept { return socket_.get(); }
  [[nodiscard]] ConnectionId id() const noexcept { return id_; }
  [[nodiscard]] wire::ServerSession& session() noexcept { return session_; }

  /// Where replies are appended; `flush` sends them.
  [[nodiscard]] std::vector<std::byte>& out() noexcept { return out_; }
  [[nodiscard]] std::size_t unsent() const noexcept { return out_.size() - sent_; }
  Sent flush(Counters& counters) noexcept;

  /// The beginning of a frame whose end has not come yet.
  [[nodiscard]] std::span<const std::byte> rest() const noexcept { return rest_; }
  void keep(std::span<const std::byte> rest) { rest_.assign(rest.begin(), rest.end()); }

  /// The client's address, or "?" if it can no longer be told.
  [[nodiscard]] std::string peer() const;

  // What the event loop knows of it.
  bool ready = false;        ///< Stands in the loop's list of connections to read.
  bool peer_closed = false;  ///< The client has said that it sends no more.
  bool closing = false;      ///< To be closed once all is sent; not read any more.

 private:
  FileDescriptor socket_;
  ConnectionId id_;
  wire::ServerSession session_;
  std::vector<std::byte> out_;
  std::size_t sent_ = 0;  ///< How much of `out_` has been sent.
  std::vector<std::byte> rest_;
};

}  // namespace raftperf::stub
