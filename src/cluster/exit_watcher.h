// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/file_descriptor.h"

namespace raftperf::cluster {

/// Notices at once that a process has ended, on a thread of its own. Thread-safe.
class ExitWatcher {
 public:
  /// Calls `on_exit(node)` on the watcher's thread, once per watched process that ends.
  explicit ExitWatcher(std::function<void(int node)> on_exit);
  ExitWatcher(const ExitWatcher&) = delete;
  ExitWatcher& operator=(const ExitWatcher&) = delete;
  /// Waits for a callback that is under way.
  ~ExitWatcher();

  /// Watches the process behind `pidfd`, of which it makes a copy.
  void watch(int node, int pidfd);

 private:
  struct Entry {
    int node = -1;
    FileDescriptor pidfd;
  };

  void run();
  void wake();

  std::function<void(int)> on_exit_;
  FileDescriptor wake_fd_;
  std::mutex mutex_;
  std::vector<Entry> entries_;  // GUARDED_BY mutex_
  bool stopping_ = false;       // GUARDED_BY mutex_
  std::thread thread_;
};

}  // namespace raftperf::cluster
