// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "drivers/driver.h"
#include "drivers/wire/wire_connection.h"
#include "net/socket.h"

namespace raftperf::drivers {

/// Speaks wire/SPEC.md: a few connections per node, any number of operations
/// outstanding on each, all that one `submit` puts on a connection in one send.
class WireDriver final : public Driver {
 public:
  /// Refuses operations that the protocol does not have.
  static Result<DriverPtr> create(const DriverConfig& config);

  Result<void> connect(load::CompletionSink& sink) override;
  std::size_t submit(std::span<const load::Operation> operations) noexcept override;
  void poll() noexcept override;
  void reconnect(std::uint32_t node) noexcept override;
  [[nodiscard]] int wait_descriptor() const noexcept override { return epoll_.get(); }
  [[nodiscard]] TransportStats transport() const noexcept override;
  [[nodiscard]] std::uint32_t request_bytes(
      const load::Operation& operation) const noexcept override;
  [[nodiscard]] std::string_view name() const noexcept override { return "wire"; }

 private:
  struct Outstanding {
    std::uint64_t id = 0;
    std::uint32_t connection = 0;  ///< Index + 1; 0 is none.
  };

  explicit WireDriver(const DriverConfig& config);

  [[nodiscard]] std::uint32_t node_of(std::size_t connection) const noexcept {
    return static_cast<std::uint32_t>(connection / config_.connections);
  }
  /// A ready connection to the operation's node, by its lane; none if there is none.
  [[nodiscard]] std::size_t choose(const load::Operation& operation) const noexcept;
  [[nodiscard]] bool put(WireConnection& connection, const load::Operation& operation) noexcept;
  void flush(std::size_t connection) noexcept;
  [[nodiscard]] Result<void> resolve_nodes();
  bool start(std::size_t connection) noexcept;
  void await_greetings() noexcept;
  void on_event(std::size_t connection, std::uint32_t events) noexcept;
  void read_all(std::size_t connection, bool closing) noexcept;
  [[nodiscard]] bool parse(std::size_t connection, load::Arrival arrival) noexcept;
  void complete(const wire::Frame& frame, load::Arrival arrival) noexcept;
  void try_next_address(std::size_t connection) noexcept;
  void lose(std::size_t connection) noexcept;
  void report_link(std::uint32_t node) noexcept;

  DriverConfig config_;
  load::CompletionSink* sink_ = nullptr;
  FileDescriptor epoll_;
  std::vector<std::vector<net::SocketAddress>> addresses_;  ///< Per node.
  std::vector<std::size_t> next_address_;                   ///< Per node: which to try next.
  std::vector<std::size_t> tries_;                          ///< Per connection: addresses tried.
  std::vector<WireConnection> connections_;                 ///< Those of a node are adjacent.
  std::vector<Outstanding> outstanding_;                    ///< By slot.
  std::vector<std::size_t> touched_;                        ///< To be flushed by `submit`.
  TransportStats stats_;
};

}  // namespace raftperf::drivers
