// SPDX-License-Identifier: Apache-2.0
//
// For tests: real server processes on loopback, data in /dev/shm where there is one.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "net/endpoint.h"
#include "wire/cpp/client.h"

namespace raftperf::libraft {

/// How long a test waits for what must happen; far above what it takes.
inline constexpr std::chrono::seconds kPatience{20};

/// Asks again every few milliseconds until it is so, for at most `kPatience`.
[[nodiscard]] bool eventually(const std::function<bool()>& is_so);

/// Ports on 127.0.0.1 that nobody listens on, each another.
std::vector<std::uint16_t> free_ports(std::size_t count);

/// A directory that is removed with everything in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

/// One server process, killed by its pid when the object goes, and by the kernel
/// should the test die first.
class ServerProcess {
 public:
  struct Start {
    std::vector<std::string> arguments;  ///< Without the program.
    std::string error_log;               ///< stderr is appended to it.
    std::optional<std::uint64_t> descriptors_max;
  };

  explicit ServerProcess(const Start& start);
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  /// The first line on stdout; empty if the process ended or `kPatience` passed first.
  std::string ready_line();

  void signal(int number) const;

  /// Waits for the end: the exit status, or minus the signal; nothing if it goes on.
  std::optional<int> wait_for_exit();

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  pid_t pid_ = -1;
  FileDescriptor output_;
  std::optional<int> exit_status_;
};

/// A cluster of such processes.
class TestCluster {
 public:
  explicit TestCluster(std::size_t nodes = 3, std::vector<std::string> options = {});

  /// (Re)starts a node and waits for its ready line.
  void start(std::size_t node);
  void kill(std::size_t node);
  [[nodiscard]] ServerProcess& process(std::size_t node) { return *processes_.at(node); }

  /// A node's command line, for starts that should fail.
  [[nodiscard]] std::vector<std::string> arguments(std::size_t node) const;

  [[nodiscard]] net::Endpoint client_endpoint(std::size_t node) const;
  [[nodiscard]] std::string directory(std::size_t node) const;
  [[nodiscard]] std::string error_log(std::size_t node) const;
  /// What a node has said on stderr so far, over its restarts.
  [[nodiscard]] std::string errors(std::size_t node) const;

  /// What a node says of itself, if it answers.
  [[nodiscard]] std::optional<wire::NodeStatus> status(std::size_t node) const;

  /// Waits until a node leads and an append through it is committed; returns it.
  /// Fails the test otherwise.
  std::size_t wait_for_leader();

  /// Waits until all nodes agree on count and checksum, with at least that count.
  [[nodiscard]] bool agree(std::uint64_t operation_count_min = 0) const;

  /// A client of that node, past hello.
  [[nodiscard]] wire::Client connect(std::size_t node) const;

 private:
  TemporaryDirectory directory_;
  std::vector<std::uint16_t> client_ports_;
  std::vector<std::uint16_t> raft_ports_;
  std::vector<std::string> options_;
  std::vector<std::unique_ptr<ServerProcess>> processes_;
};

/// A connection on which many requests may be outstanding.
class PipelinedClient {
 public:
  explicit PipelinedClient(const net::Endpoint& endpoint);

  /// Adds a request to what `send` will write.
  void add(wire::Kind kind, std::uint64_t id, std::span<const std::byte> body);
  void add_append(std::uint64_t id, std::size_t length = 8);
  void add_bytes(std::span<const std::byte> bytes);
  /// Writes all of it, waiting where it must. False if the server closed.
  bool send();
  /// Writes what the socket takes at once; returns how much is left.
  std::size_t send_some();

  struct Reply {
    wire::Kind kind = wire::Kind::kHello;
    wire::Status status = wire::Status::kOk;
    std::uint64_t id = 0;
    std::vector<std::byte> body;
  };
  /// The next reply other than hello's; nothing once the server has closed or
  /// `kPatience` has passed.
  std::optional<Reply> receive();
  [[nodiscard]] bool is_closed() const noexcept { return closed_; }
  /// Says that nothing more will be sent.
  void shut_down();

 private:
  FileDescriptor socket_;
  std::vector<std::byte> out_;
  std::size_t out_used_ = 0;
  std::vector<std::byte> in_;
  std::size_t in_used_ = 0;
  bool closed_ = false;
};

}  // namespace raftperf::libraft
