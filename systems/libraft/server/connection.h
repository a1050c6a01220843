// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "systems/libraft/server/proposals.h"
#include "wire/cpp/frame.h"
#include "wire/cpp/server_session.h"

namespace raftperf::libraft {

/// One client connection on the loop: bytes in, requests out to the owner; replies
/// in, bytes out once a turn.
///
/// Bounded: what a client sends is read into the owner's buffer and only the rest of
/// an unfinished frame is kept; while a client does not read its replies, it is not
/// read either. On the loop's thread; owned by `Clients`, which frees it after
/// `closed`.
class Connection {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    /// One request other than hello; replies go to `reply()` now or later.
    virtual void request(Connection& from, const wire::Frame& request) = 0;
    virtual void malformed(const Connection& from, std::string_view reason) = 0;
    /// Wants `flush` at the end of the turn. Said once until then.
    virtual void dirty(const Connection& connection) = 0;
    virtual void closed(const Connection& connection) = 0;
    /// Where to read into; free again when the read callback returns.
    virtual std::span<std::byte> read_buffer() = 0;
  };
  struct Settings {
    wire::HelloReply identity;
    std::size_t output_max = 1U << 20U;
  };

  Connection(uv_loop_t* loop, ConnectionId id, const Settings& settings, Owner& owner);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Takes the next connection of a listening handle and sets TCP_NODELAY. False if
  /// that failed; `closed` follows in either case, in the end.
  bool accept(uv_stream_t* listener);

  /// The buffer for replies; they leave at the end of the turn.
  std::vector<std::byte>& reply();

  /// A request of this connection will be answered later.
  void expect_answer() noexcept { ++outstanding_; }
  /// And now it has been, into `reply()`, or never will be.
  void answered() noexcept { --outstanding_; }

  /// Closes at the end of the turn, after one attempt to send what is written.
  void doom();

  /// Sends the rest, then says that there is no more (FIN), reads what still comes
  /// and throws it away, and closes when the client has closed.
  void finish();

  void close();

  /// Sends what this turn has written. At the end of the turn only.
  void flush();

  [[nodiscard]] ConnectionId id() const noexcept { return id_; }
  [[nodiscard]] bool is_closing() const noexcept { return closing_; }
  [[nodiscard]] std::size_t unsent() const noexcept { return out_.size() + writing_.size(); }
  [[nodiscard]] uv_stream_t* stream() noexcept { return reinterpret_cast<uv_stream_t*>(&handle_); }

 private:
  void mark();
  void start_reading();
  void received(ssize_t length, const uv_buf_t* buffer);
  void ended(ssize_t code);
  std::size_t consume(std::span<const std::byte> bytes);
  void resume();
  bool send();
  void settle();

  ConnectionId id_;
  Owner& owner_;
  std::size_t output_max_;
  wire::ServerSession session_;
  uv_tcp_t handle_{};
  uv_write_t write_{};
  uv_shutdown_t shutdown_{};

  std::vector<std::byte> rest_;     ///< Read, and not consumed yet.
  std::vector<std::byte> out_;      ///< Not given to the kernel yet.
  std::vector<std::byte> writing_;  ///< Being written by libuv; not to be touched.
  std::size_t outstanding_ = 0;
  bool marked_ = false;
  bool paused_ = false;  ///< Not read, until the output is sent.
  bool ended_ = false;   ///< The client sends no more.
  bool doomed_ = false;
  bool finishing_ = false;
  bool fin_sent_ = false;
  bool closing_ = false;
};

}  // namespace raftperf::libraft
