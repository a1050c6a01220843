// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <poll.h>
#include <sys/inotify.h>

#include <algorithm>
#include <system_error>

#include "cluster/local_cluster.h"
#include "cluster/node_log.h"

namespace raftperf::cluster {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kLogLines = 10;
// Bounds how late an interruption is seen, and replaces inotify where that is missing.
constexpr milliseconds kLookInterval{50};

/// Says when something in a directory was written to.
class DirectoryWatch {
 public:
  explicit DirectoryWatch(const std::filesystem::path& directory)
      : fd_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    (void)::inotify_add_watch(fd_.get(), directory.c_str(), IN_MODIFY | IN_CREATE);
  }

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

  void clear() noexcept {
    char buffer[4096];
    while (::read(fd_.get(), buffer, sizeof buffer) > 0) {
    }
  }

 private:
  FileDescriptor fd_;
};

}  // namespace

Result<void> LocalCluster::launch(int node) {
  NodeRecord& record = state_.records.at(node);
  ProcessOptions options{.arguments = record.command,
                         .environment = record.environment,
                         .working_directory = state_.directory,
                         .log = record.log,
                         .run_token = state_.run_token,
                         .before_exec = {}};
  options.before_exec = [&](const ProcessIdentity& identity) -> Result<void> {
    record.identity = identity;
    if (guard_) {
      if (auto told = guard_->watch(identity); !told) {
        return told;
      }
    }
    return write_node_record(state_.pid_file(node), record);
  };
  std::error_code code;
  const auto log_size = std::filesystem::file_size(record.log, code);
  auto process = Process::start(options);
  if (!process) {
    return Error{process.error()};
  }
  Node& entry = nodes_[static_cast<std::size_t>(node)];
  entry = Node{.process = *std::move(process), .log_offset = code ? 0 : log_size};
  log_.record(EventCode::kNodeStarted, node, fmt::format("pid {}", record.identity.pid),
              EventOrigin::kPlanned);
  watcher_->watch(node, entry.process->group().pidfd());
  return {};
}

Result<void> LocalCluster::check_running() const {
  if (options_.interrupted && options_.interrupted()) {
    return Error{"interrupted while the cluster was starting"};
  }
  for (int node = 0; node < state_.nodes; ++node) {
    const Node& entry = nodes_[static_cast<std::size_t>(node)];
    const auto status = entry.process ? entry.process->exit_status() : std::nullopt;
    if (status && !entry.exit_expected) {
      return Error{
          fmt::format("node {} of {} {} while the cluster was starting; the last lines "
                      "of its log:\n{}",
                      node, state_.system, to_string(*status), log_tail(log_of(node), kLogLines))};
    }
  }
  return {};
}

Result<void> LocalCluster::await_ready_line(const std::vector<int>& nodes,
                                            Clock::time_point deadline) const {
  DirectoryWatch watch(state_.directory);
  std::vector<int> missing = nodes;
  std::vector<ReadyLineReader> readers;
  for (int node = 0; node < state_.nodes; ++node) {
    readers.emplace_back(log_of(node), nodes_[static_cast<std::size_t>(node)].log_offset);
  }
  while (true) {
    watch.clear();
    for (const int node : std::vector<int>(missing)) {
      const auto ready = readers[static_cast<std::size_t>(node)].poll();
      if (ready && ready->run_token != state_.run_token) {
        return Error{
            fmt::format("node {} of {} printed a ready line without our run token {}; "
                        "the last lines of its log:\n{}",
                        node, state_.system, state_.run_token, log_tail(log_of(node), kLogLines))};
      }
      if (ready) {
        std::erase(missing, node);
      }
    }
    if (auto running = check_running(); !running) {
      return running;
    }
    if (missing.empty()) {
      return {};
    }
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    if (left <= milliseconds{0}) {
      return Error{fmt::format(
          "node {} of {} printed no ready line in time; the last lines of "
          "its log:\n{}",
          missing.front(), state_.system, log_tail(log_of(missing.front()), kLogLines))};
    }
    std::vector<pollfd> waiting{{.fd = watch.fd(), .events = POLLIN, .revents = 0}};
    for (const int node : missing) {
      const Node& entry = nodes_[static_cast<std::size_t>(node)];
      waiting.push_back({.fd = entry.process->group().pidfd(), .events = POLLIN, .revents = 0});
    }
    (void)::poll(waiting.data(), waiting.size(),
                 static_cast<int>(std::min(left, kLookInterval).count()));
  }
}

}  // namespace raftperf::cluster
