// SPDX-License-Identifier: Apache-2.0
#include "cluster/exit_watcher.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cstdint>

#include "base/check.h"

namespace raftperf::cluster {

ExitWatcher::ExitWatcher(std::function<void(int)> on_exit)
    : on_exit_(std::move(on_exit)), wake_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CHECK(wake_fd_.valid());
  thread_ = std::thread([this] { run(); });
}

ExitWatcher::~ExitWatcher() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wake();
  thread_.join();
}

void ExitWatcher::wake() {
  const std::uint64_t one = 1;
  (void)!::write(wake_fd_.get(), &one, sizeof one);
}

void ExitWatcher::watch(int node, int pidfd) {
  FileDescriptor copy(::fcntl(pidfd, F_DUPFD_CLOEXEC, 0));
  CHECK(copy.valid());
  {
    const std::scoped_lock lock(mutex_);
    entries_.push_back(Entry{.node = node, .pidfd = std::move(copy)});
  }
  wake();
}

void ExitWatcher::run() {
  while (true) {
    std::vector<pollfd> waiting{{.fd = wake_fd_.get(), .events = POLLIN, .revents = 0}};
    {
      const std::scoped_lock lock(mutex_);
      if (stopping_) {
        return;
      }
      for (const Entry& entry : entries_) {
        waiting.push_back({.fd = entry.pidfd.get(), .events = POLLIN, .revents = 0});
      }
    }
    (void)::poll(waiting.data(), waiting.size(), -1);
    std::uint64_t count = 0;
    (void)!::read(wake_fd_.get(), &count, sizeof count);
    std::vector<int> ended;
    {
      const std::scoped_lock lock(mutex_);
      std::erase_if(entries_, [&](const Entry& entry) {
        const bool gone = std::any_of(waiting.begin() + 1, waiting.end(), [&](const pollfd& p) {
          return p.fd == entry.pidfd.get() && p.revents != 0;
        });
        if (gone) {
          ended.push_back(entry.node);
        }
        return gone;
      });
    }
    for (const int node : ended) {
      on_exit_(node);
    }
  }
}

}  // namespace raftperf::cluster
