// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/file_descriptor.h"

namespace raftperf::e2e {

/// How a program ended and what it wrote.
struct Ended {
  int status = -1;  ///< Exit status; 128 + n by signal n; -1: it had not ended in time.
  std::string out;
  std::string err;
};

/// One program in a process group of its own, its two outputs in files. One thread.
class Process {
 public:
  struct Start {
    std::vector<std::string> command;                ///< The program's path first.
    std::string name;                                ///< argv[0], if not the path.
    std::map<std::string, std::string> environment;  ///< Beside ours without RAFTPERF_*.
    std::filesystem::path directory;                 ///< It runs there.
    std::filesystem::path out;                       ///< Standard output goes there.
    std::filesystem::path err;
  };

  explicit Process(const Start& start);
  Process(Process&&) = default;
  Process& operator=(Process&&) = delete;
  /// Ends it, asking first: the tool then stops what it has started.
  ~Process();

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  [[nodiscard]] bool running() const;
  void send_signal(int signal) const;
  /// As Ctrl-C does: to everyone in its process group.
  void send_signal_to_group(int signal) const;

  Ended wait(std::chrono::seconds limit);

  [[nodiscard]] std::string out() const;
  [[nodiscard]] std::string err() const;
  /// Whether standard output holds `text` before `limit` passes or the program ends.
  bool says(const std::string& text, std::chrono::seconds limit) const;

 private:
  pid_t pid_ = -1;
  int status_ = -1;
  FileDescriptor pidfd_;
  std::filesystem::path out_;
  std::filesystem::path err_;
};

/// Whether it comes true before `limit` has passed.
bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds limit);

/// Whether a process is there and no zombie.
bool is_alive(pid_t pid);

/// The arguments of a process, joined by blanks.
std::string command_line(pid_t pid);

/// Every process that has `text` in its arguments. Only to look at, never to signal.
std::vector<pid_t> processes_with(const std::string& text);

std::string read_file(const std::filesystem::path& path);

}  // namespace raftperf::e2e
