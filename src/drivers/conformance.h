// SPDX-License-Identifier: Apache-2.0
//
// The contract of driver.h as tests, the same for every driver. A driver passes it by
// giving a `Harness`: how to start a server of its protocol that does what it is told.
// For protocols over TCP, scripted_server.h needs nothing but a codec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "drivers/driver.h"

namespace raftperf::drivers::conformance {

using Bytes = std::vector<std::byte>;

/// An operation as a server received it.
struct Request {
  std::size_t connection = 0;  ///< Counted in the order of acceptance.
  std::uint64_t tag = 0;       ///< What the server's protocol matches its answer by.
  std::uint64_t key = 0;       ///< Of a compare-and-set.
  std::uint64_t value = 0;     ///< The new value, or the payload's first 8 bytes.
};

enum class Answering : std::uint8_t { kOk, kMismatch, kNotLeader, kBusy, kError };

struct Answer {
  Answering kind = Answering::kOk;
  std::uint64_t value = 0;   ///< Of ok and mismatch: the key's value now.
  int hint = load::kNoNode;  ///< Of not leader.
};

/// One node. Every call may come while a driver is connected; from one thread.
class Server {
 public:
  virtual ~Server() = default;
  [[nodiscard]] virtual net::Endpoint endpoint() const = 0;

  /// What every operation from now on is answered with; none: it is held until `answer`.
  virtual void answer_all(std::optional<Answer> answer) = 0;
  /// In the order of receipt.
  [[nodiscard]] virtual std::vector<Request> requests() const = 0;
  /// Answers operations, held or answered already, in this order.
  virtual void answer(std::span<const Request> requests, const Answer& answer) = 0;

  /// Bytes of operations, without those of greetings.
  [[nodiscard]] virtual std::uint64_t bytes_received() const = 0;
  /// Reads nothing any more, or reads on.
  virtual void freeze(bool frozen) = 0;
  /// Live connections; ends `count` of them, the oldest first.
  [[nodiscard]] virtual std::size_t connections() const = 0;
  virtual void drop_connections(std::size_t count) = 0;
  /// Whether it listens; starting again is on the same port.
  virtual void listen(bool listening) = 0;

  // Where Features::raw_bytes.
  /// An answer as bytes of the protocol; something that cannot be one, in its place.
  [[nodiscard]] virtual Bytes encode(const Request& request, const Answer& answer) = 0;
  [[nodiscard]] virtual Bytes malformed(const Request& request) = 0;
  virtual void send(std::size_t connection, std::span<const std::byte> bytes) = 0;
};

/// What a protocol has; the cases that need more are skipped, by name.
struct Features {
  bool network = true;      ///< Servers are elsewhere: the cases on links apply.
  bool scripted = true;     ///< `answer`, `requests` and the like work.
  bool raw_bytes = true;    ///< The peer can send any bytes.
  bool greets = false;      ///< A listener that never speaks is not connected to.
  bool multiplexes = true;  ///< Many operations outstanding on one connection.
  bool compare_and_set = true;
  bool busy = true;
};

class Harness {
 public:
  virtual ~Harness() = default;
  /// As `Driver::name`.
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual Features features() const = 0;
  /// A node with this index in the cluster, listening on `host` on a free port.
  virtual std::unique_ptr<Server> start_server(std::optional<Answer> answer,
                                               const std::string& host, std::uint32_t node) = 0;
  virtual Result<DriverPtr> make_driver(const DriverConfig& config) = 0;
};

/// Registers every case as a test `<suite>.<case>`. To be called before main, by the
/// initialiser of a constant.
bool register_cases(const std::string& suite, std::function<std::unique_ptr<Harness>()> make);

// For conformance.cc: the cases.
struct Case {
  const char* name;
  void (*run)(Harness& harness);
};
std::span<const Case> operation_cases();
std::span<const Case> stream_cases();
std::span<const Case> link_cases();
std::span<const Case> address_cases();

}  // namespace raftperf::drivers::conformance
