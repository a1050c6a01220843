// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "stub/answer_queue.h"
#include "stub/arrival_log.h"
#include "stub/connection.h"
#include "stub/counters.h"
#include "stub/node.h"
#include "stub/options.h"
#include "stub/service_times.h"

struct epoll_event;

namespace raftperf::stub {

/// The stub's event loop: one thread, edge-triggered epoll, one receive and one send
/// for all the frames of a connection that are ready. Allocates nothing per request
/// once its buffers have grown to the load.
///
/// Takes SIGTERM and SIGINT (drain and end) and SIGUSR1 (write the logs now) for
/// itself by blocking them in the calling thread, so a process has one Server.
class Server {
 public:
  /// Listens and opens the logs.
  static Result<std::unique_ptr<Server>> create(Options options);

  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;

  /// Serves until SIGTERM or SIGINT, answers what it has accepted, writes the logs. An
  /// error if a log could not be written.
  Result<void> run();

 private:
  explicit Server(Options options);

  Result<void> open();
  Result<void> watch(int fd, std::uint32_t events, ConnectionId id);

  // One turn of the loop.
  void wait();
  void notice(const epoll_event& event);
  void sit_out_freezes();
  void accept_all();
  void read_ready();
  void answer_due();

  /// Returns whether more may be waiting to be received.
  bool receive(Connection& connection);
  wire::After handle(Connection& connection, const wire::Frame& frame, TimePoint arrival);
  void flush(Connection& connection);
  void close_when_sent(Connection& connection);
  void close(Connection& connection);

  [[nodiscard]] Connection* find(ConnectionId id) noexcept;
  [[nodiscard]] std::optional<TimePoint> next_due() const noexcept;
  [[nodiscard]] std::optional<TimePoint> thaw_after(TimePoint now) const noexcept;
  void give(const DueAnswer& answer);
  void mark_ready(Connection& connection);

  void take_signals();
  void wait_for_signals(TimePoint until);
  void drain();
  Result<void> write_logs();

  Options options_;
  Counters counters_;
  Node node_;
  ServiceTimes service_;
  std::optional<ArrivalLog> arrival_log_;

  FileDescriptor listener_;
  FileDescriptor signals_;
  FileDescriptor epoll_;
  bool may_accept_ = false;
  bool stopping_ = false;

  std::vector<std::unique_ptr<Connection>> connections_;  ///< By slot.
  std::vector<std::uint32_t> free_slots_;
  std::uint32_t generation_ = 0;
  std::vector<ConnectionId> ready_;       ///< To be received from.
  std::vector<ConnectionId> ready_next_;  ///< Those of the next turn.
  std::vector<ConnectionId> to_flush_;

  AnswerQueue served_;
  AnswerQueue refused_;
  std::vector<DueAnswer> held_;
  std::vector<std::byte> received_;  ///< Of the one connection that is being read.
};

}  // namespace raftperf::stub
