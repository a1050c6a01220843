// SPDX-License-Identifier: Apache-2.0
//
// The driver contract: what a client protocol has to offer to be driven by the rig.
// Frozen by drivers/conformance.h, a suite that every driver passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "load/completion_sink.h"
#include "load/operation.h"
#include "net/endpoint.h"

namespace raftperf::drivers {

/// What a driver is made from. One driver per worker.
struct DriverConfig {
  std::vector<net::Endpoint> nodes;  ///< By node index; what `Operation::node` means.
  std::uint32_t connections = 1;     ///< Per node, where the protocol shares connections.
  std::uint32_t in_flight_max = 1;   ///< Slots of the worker; ids name slots below it.
  load::OperationKind operation = load::OperationKind::kAppend;  ///< What will be submitted.
  std::uint32_t value_size = 64;                                 ///< Bytes of its payload.
  std::chrono::milliseconds connect_timeout{5000};  ///< For each attempt, greeting included.
  std::map<std::string, std::string> settings;  ///< Of this protocol, from system.toml and --set.
};

/// What the transport did so far. Counts of the driver's own I/O, not of operations.
struct TransportStats {
  std::uint32_t connections_asked = 0;
  std::uint32_t connections_live = 0;
  std::uint64_t frames_sent = 0;
  std::uint64_t sends = 0;  ///< System calls, or the protocol's equivalent.
  std::uint64_t frames_received = 0;
  std::uint64_t receives = 0;
  std::uint64_t protocol_errors = 0;  ///< Connections closed because of what the server sent.
  /// Why connections are missing, as one line for a person; empty if none is.
  std::string trouble;
};

/// Speaks to one system under test on behalf of one worker.
///
/// A driver moves bytes. It does not read the clock, sleep, retry, count operations,
/// log per operation, follow a redirect, choose keys, or decide when to send: the rig
/// does these for all drivers alike (docs/MEASUREMENT.md). It has no option of the rig's.
///
/// Every method is called on the worker's thread, and so is the sink; a client library
/// with threads of its own hands its answers over in `poll()`.
class Driver {
 public:
  virtual ~Driver() = default;

  /// Connects to every node and returns once it is known which of them answer; blocks up
  /// to the configured time-out. Nodes that cannot be reached are reported by
  /// `sink.link_down`; an error if none can be. Whether fewer connections than asked will
  /// do is the rig's decision (run/run.cc). `sink` outlives the driver.
  virtual Result<void> connect(load::CompletionSink& sink) = 0;

  /// Hands over operations in order, without blocking. Returns how many were taken; the
  /// rig offers the rest again, and their clocks keep running. Nothing is completed
  /// inside. Operations of one lane and node go over one connection.
  virtual std::size_t submit(std::span<const load::Operation> operations) noexcept = 0;

  /// Lets the driver make progress without blocking: read, write, call `sink.complete`.
  /// Completes every taken operation once, unless its answer never comes; what a lost
  /// connection had outstanding is completed as unknown, reason lost. An answer to an
  /// operation that is over is passed on as well: the sink counts it as late.
  virtual void poll() noexcept = 0;

  /// Starts to connect to a node again, where connections are missing, without blocking;
  /// the outcome is reported by `link_up`, `link_degraded` or `link_down` in a later
  /// `poll()`, within the connect time-out. The rig decides when.
  virtual void reconnect(std::uint32_t node) noexcept = 0;

  /// A descriptor that is readable when an answer or the loss of a connection is there,
  /// so that the rig can wait for it, and not readable after a `poll()` has taken them; -1
  /// if there is none and the rig must poll. The rig only asks whether it is readable. It
  /// polls every 10 ms whatever it says: time-outs of connecting need no timer.
  [[nodiscard]] virtual int wait_descriptor() const noexcept = 0;

  /// Off the hot path.
  [[nodiscard]] virtual TransportStats transport() const = 0;

  /// Bytes of one request on the wire, headers of this protocol included.
  [[nodiscard]] virtual std::uint32_t request_bytes(
      const load::Operation& operation) const noexcept = 0;

  /// Name in reports, e.g. "wire".
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
};

using DriverPtr = std::unique_ptr<Driver>;

}  // namespace raftperf::drivers
