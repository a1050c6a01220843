// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/data_directory.h"
#include "cluster/guard.h"
#include "cluster/process_group.h"

namespace raftperf::cluster {
namespace {

constexpr std::chrono::milliseconds kGrace{2000};

/// What the guard has been told and not been told to forget.
class Watched {
 public:
  enum class Next : std::uint8_t { kContinue, kQuit };

  Next obey(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    words >> verb;
    if (verb == "quit") {
      return Next::kQuit;
    }
    if (verb == "process" || verb == "forget-process") {
      ProcessIdentity identity;
      words >> identity.pid >> identity.start_time >> identity.run_token;
      if (words) {
        change_process(verb == "process", identity);
      }
      return Next::kContinue;
    }
    const std::string path = line.substr(std::min(line.size(), verb.size() + 1));
    if (verb == "directory") {
      directories_.push_back(path);
    } else if (verb == "forget-directory") {
      std::erase(directories_, path);
    }
    return Next::kContinue;
  }

  void clean_up() const {
    std::vector<const ProcessGroup*> groups;
    for (const ProcessGroup& group : groups_) {
      groups.push_back(&group);
    }
    (void)stop_groups(groups, kGrace);
    for (const std::string& directory : directories_) {
      (void)remove_tree(directory);
    }
  }

 private:
  void change_process(bool add, const ProcessIdentity& identity) {
    if (!add) {
      std::erase_if(groups_, [&](const ProcessGroup& g) { return g.identity() == identity; });
      return;
    }
    if (auto group = ProcessGroup::open(identity)) {
      groups_.push_back(*std::move(group));
    }
  }

  std::vector<ProcessGroup> groups_;
  std::vector<std::string> directories_;
};

/// Leaves the terminal, the directory and every descriptor but `read_fd` behind.
void detach(int read_fd) {
  ::setsid();
  (void)!::chdir("/");
  (void)::prctl(PR_SET_NAME, "raftperf-guard");
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) {
    ::signal(number, SIG_IGN);
  }
  const auto fd = static_cast<unsigned>(read_fd);
  if (fd > 0) {
    (void)::close_range(0, fd - 1, 0);
  }
  (void)::close_range(fd + 1, ~0U, 0);
  // Descriptors 0 to 2 must be something: a library that writes to "stderr" would
  // otherwise hit whatever gets that number next.
  int null = -1;
  do {
    null = ::open("/dev/null", O_RDWR);
  } while (null >= 0 && null < 2);
  if (null > 2) {
    ::close(null);
  }
}

}  // namespace

int guard_main(int read_fd) {
  detach(read_fd);
  (void)::send(read_fd, "g", 1, MSG_NOSIGNAL);
  Watched watched;
  std::string pending;
  char buffer[4096];
  while (true) {
    const ssize_t got = ::read(read_fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      break;
    }
    pending.append(buffer, static_cast<std::size_t>(got));
    std::size_t end = 0;
    while ((end = pending.find('\n')) != std::string::npos) {
      if (watched.obey(pending.substr(0, end)) == Watched::Next::kQuit) {
        return 0;
      }
      pending.erase(0, end + 1);
    }
  }
  watched.clean_up();
  return 0;
}

}  // namespace raftperf::cluster
