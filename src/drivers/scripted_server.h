// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <thread>

#include "base/file_descriptor.h"
#include "drivers/conformance.h"

namespace raftperf::drivers::conformance {

/// A protocol's bytes, for one connection of a ScriptedServer. All that a driver over
/// TCP has to bring to the conformance suite.
class Codec {
 public:
  virtual ~Codec() = default;

  struct Parsed {
    std::size_t size = 0;            ///< Of the message at the start; 0: it is not whole.
    std::optional<Request> request;  ///< None for a greeting, answered into `out`.
  };
  virtual Parsed parse(std::span<const std::byte> input, Bytes& out) = 0;
  virtual void encode(const Request& request, const Answer& answer, Bytes& out) = 0;
  /// Bytes at which a client must close the connection.
  virtual Bytes malformed(const Request& request) = 0;
};

/// A TCP server that does what a test says, with a thread of its own for what comes in.
class ScriptedServer final : public Server {
 public:
  using MakeCodec = std::function<std::unique_ptr<Codec>()>;

  /// Null if it cannot listen on `host`.
  static std::unique_ptr<ScriptedServer> start(const std::string& host,
                                               std::optional<Answer> answer, MakeCodec make_codec);
  ~ScriptedServer() override;

  [[nodiscard]] net::Endpoint endpoint() const override { return endpoint_; }
  void answer_all(std::optional<Answer> answer) override;
  [[nodiscard]] std::vector<Request> requests() const override;
  void answer(std::span<const Request> requests, const Answer& answer) override;
  [[nodiscard]] std::uint64_t bytes_received() const override;
  void freeze(bool frozen) override;
  [[nodiscard]] std::size_t connections() const override;
  void drop_connections(std::size_t count) override;
  void listen(bool listening) override;
  [[nodiscard]] Bytes encode(const Request& request, const Answer& answer) override;
  [[nodiscard]] Bytes malformed(const Request& request) override;
  void send(std::size_t connection, std::span<const std::byte> bytes) override;

 private:
  struct Connection {
    FileDescriptor fd;
    std::unique_ptr<Codec> codec;
    Bytes input;
    Bytes output;  ///< What the kernel did not take yet.
  };

  ScriptedServer() = default;
  void serve();
  void accept_all();                                           // REQUIRES: mutex_
  void receive(std::size_t at);                                // REQUIRES: mutex_
  void handle_input(std::size_t at);                           // REQUIRES: mutex_
  void put(std::size_t at, std::span<const std::byte> bytes);  // REQUIRES: mutex_
  void flush(Connection& connection);                          // REQUIRES: mutex_
  void wake() noexcept;

  net::Endpoint endpoint_;
  MakeCodec make_codec_;
  FileDescriptor wake_;
  mutable std::mutex mutex_;
  FileDescriptor listener_;              // GUARDED_BY(mutex_), and so all below
  std::vector<Connection> connections_;  ///< In the order of acceptance; closed ones stay.
  std::vector<Request> requests_;
  std::optional<Answer> answer_all_;
  std::uint64_t bytes_received_ = 0;
  bool frozen_ = false;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace raftperf::drivers::conformance
