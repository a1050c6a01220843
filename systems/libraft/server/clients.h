// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/endpoint.h"
#include "systems/libraft/server/connection.h"
#include "systems/libraft/server/events.h"

namespace raftperf::libraft {

/// The listening socket and every client connection. On the loop's thread.
///
/// Holds the number of connections well below the process's descriptor limit, since
/// the log needs descriptors too: one too many is accepted and closed at once, so that
/// the client sees it and the loop does not spin on a listener that stays readable.
class Clients final : private Connection::Owner {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void request(Connection& from, const wire::Frame& request) = 0;
    /// After `stop_accepting`: the listener and the last connection are closed.
    virtual void all_closed() = 0;
  };

  Clients(uv_loop_t* loop, const Connection::Settings& settings, const Events& events,
          Owner& owner);
  ~Clients() override;

  /// A taken port is an error that names it.
  Result<void> listen(const net::Endpoint& endpoint);
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

  /// The connection, unless it is closing or has been closed.
  [[nodiscard]] Connection* find(ConnectionId id) noexcept;

  /// Sends what was written in this turn. At the end of the turn.
  void flush();

  void stop_accepting();
  /// Every connection: send the rest, then close in good order. Repeating it is free.
  void finish();
  /// Every connection, at once.
  void close();

  /// After `stop_accepting`: whether nothing is left that could call back.
  [[nodiscard]] bool is_closed() const noexcept { return stopped_ && !listening_ && count_ == 0; }

 private:
  struct Slot {
    std::unique_ptr<Connection> connection;
    std::uint32_t generation = 0;
  };

  void accept(int status);
  void maybe_all_closed();
  void request(Connection& from, const wire::Frame& request) override;
  void malformed(const Connection& from, std::string_view reason) override;
  void dirty(const Connection& connection) override;
  void closed(const Connection& connection) override;
  std::span<std::byte> read_buffer() override { return read_buffer_; }

  uv_loop_t* loop_;
  Connection::Settings settings_;
  const Events& events_;
  Owner& owner_;
  uv_tcp_t listener_{};
  bool listening_ = false;  ///< The handle exists.
  bool stopped_ = false;
  bool refused_said_ = false;
  std::uint16_t port_ = 0;
  std::size_t connections_max_;
  std::size_t count_ = 0;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<ConnectionId> dirty_;
  std::vector<ConnectionId> flushing_;
  std::vector<std::byte> read_buffer_;
};

}  // namespace raftperf::libraft
