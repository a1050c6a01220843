// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "drivers/driver.h"
#include "drivers/wire/wire_connection.h"
#include "net/socket.h"

namespace raftperf::drivers {

/// Speaks wire/SPEC.md: a few connections per node, any number of operations
/// outstanding on each, all that one `submit` puts on a connection in one send.
///
/// A host name's addresses share the connect time-out; the one that answered is tried
/// first when a connection is made again. Names are resolved once, by `connect`.
class WireDriver final : public Driver {
 public:
  /// Refuses operations that the protocol does not have.
  static Result<DriverPtr> create(const DriverConfig& config);

  Result<void> connect(load::CompletionSink& sink) override;
  std::size_t submit(std::span<const load::Operation> operations) noexcept override;
  void poll() noexcept override;
  void reconnect(std::uint32_t node) noexcept override;
  [[nodiscard]] int wait_descriptor() const noexcept override { return epoll_.get(); }
  [[nodiscard]] TransportStats transport() const override;
  [[nodiscard]] std::uint32_t request_bytes(
      const load::Operation& operation) const noexcept override;
  [[nodiscard]] std::string_view name() const noexcept override { return "wire"; }

 private:
  struct Outstanding {
    std::uint64_t id = 0;
    std::uint32_t connection = 0;  ///< Index + 1; 0 is none.
  };

  struct Node {
    std::vector<net::SocketAddress> addresses;
    std::size_t preferred = 0;               ///< The address that answered last.
    std::uint32_t ready = 0;                 ///< Connections.
    std::uint32_t undecided = 0;             ///< Connections that are being made.
    std::int32_t announced = wire::kNoNode;  ///< Its index in the cluster, by its hello.
    bool reported_down = false;
    bool changed = false;  ///< To be reported by `report_links`.
    std::string trouble;   ///< Why a connection was lost or could not be made.
  };

  explicit WireDriver(const DriverConfig& config);

  // The data path, wire_driver.cc.
  [[nodiscard]] std::size_t choose(const load::Operation& operation) const noexcept;
  [[nodiscard]] bool put(std::size_t connection, const load::Operation& operation) noexcept;
  [[nodiscard]] std::byte* reserve(std::size_t connection, std::size_t size) noexcept;
  void flush(std::size_t connection) noexcept;
  void on_event(std::size_t connection, std::uint32_t events) noexcept;
  void read_all(std::size_t connection, bool closing) noexcept;
  /// Completes what is whole and returns how many bytes that was. A reply that breaks
  /// the protocol fails the connection, which `input` then no longer belongs to.
  std::size_t parse(std::size_t connection, std::span<const std::byte> input,
                    load::Arrival arrival) noexcept;
  bool handle(std::size_t connection, const wire::Frame& frame, load::Arrival arrival) noexcept;
  void complete(const load::Completion& completion, load::Arrival arrival) noexcept;
  /// The index in `config_.nodes` of the node that the cluster calls `node`.
  [[nodiscard]] int index_of(std::int32_t node) const noexcept;

  // Making and losing connections, wire_links.cc.
  [[nodiscard]] Result<void> resolve_nodes();
  void begin(std::size_t connection, load::TimePoint now);
  void try_next_address(std::size_t connection, load::TimePoint now);
  void await_decisions();
  void expire_undecided(load::TimePoint now);
  bool welcome(std::size_t connection, const wire::Frame& frame);
  void break_protocol(std::size_t connection, std::string_view why);
  /// A connection was lost, or could not be made so far.
  void fail(std::size_t connection, std::string_view why);
  void complete_as_lost(std::size_t connection) noexcept;
  void report_links();
  void report_link(std::uint32_t node, load::Arrival at);
  [[nodiscard]] std::string troubles() const;

  DriverConfig config_;
  load::CompletionSink* sink_ = nullptr;
  FileDescriptor epoll_;
  std::vector<Node> nodes_;
  std::vector<WireConnection> connections_;  ///< Those of a node are adjacent.
  std::vector<Outstanding> outstanding_;     ///< By slot.
  std::vector<std::size_t> touched_;         ///< To be flushed by `submit`.
  std::vector<std::byte> in_;                ///< Of the one connection that is being read.
  std::uint64_t ok_header_;                  ///< First 8 bytes of an expected reply.
  std::uint32_t undecided_ = 0;
  bool links_changed_ = false;
  bool broken_ = false;  ///< A send found its connection gone.
  TransportStats stats_;
};

}  // namespace raftperf::drivers
