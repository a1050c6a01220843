// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "net/endpoint.h"

namespace raftperf::stub {

/// The program raftperf-stub in a process of its own, with its logs in a temporary
/// directory. What is started is stopped by its pid, at the latest by the
/// destructor. Every wait is bounded by 30 s. One thread.
class StubProcess {
 public:
  /// Starts it with these arguments beside --counters-file and --arrival-log, and
  /// waits for its ready line. The error holds what it printed to stderr.
  static Result<StubProcess> start(const std::filesystem::path& program,
                                   const std::vector<std::string>& arguments);
  /// The one of this build, for tests.
  static Result<StubProcess> start(const std::vector<std::string>& arguments);

  StubProcess(StubProcess&& other) noexcept;
  StubProcess& operator=(StubProcess&&) = delete;
  ~StubProcess();

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  [[nodiscard]] const net::Endpoint& endpoint() const noexcept { return endpoint_; }
  [[nodiscard]] const nlohmann::json& ready() const noexcept { return ready_; }

  /// Has the counters and the arrival log written (SIGUSR1) and reads the former.
  nlohmann::json counters();

  void send_signal(int signal) const noexcept;

  /// Waits for its end. The exit status; 128 + n if ended by signal n; -1 if it goes on.
  int wait();

  /// SIGTERM, then `wait`.
  int stop();

  /// The counters as last written, e.g. at its exit.
  [[nodiscard]] nlohmann::json counters_file() const;
  [[nodiscard]] std::string arrival_log() const { return directory_ / "arrivals"; }
  [[nodiscard]] std::string standard_error() const;

 private:
  StubProcess() = default;
  Result<void> spawn(std::vector<std::string> arguments);
  Result<void> read_ready_line();

  std::filesystem::path directory_;
  pid_t pid_ = -1;
  int exit_status_ = -1;
  FileDescriptor pidfd_;
  FileDescriptor output_;
  FileDescriptor directory_events_;
  net::Endpoint endpoint_;
  nlohmann::json ready_;
};

}  // namespace raftperf::stub
