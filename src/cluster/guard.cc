// SPDX-License-Identifier: Apache-2.0
#include "cluster/guard.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

extern char** environ;

namespace raftperf::cluster {
namespace {

/// The child's side of the fork. System calls only.
[[noreturn]] void become_guard(int fd, char* const* argv) {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (argv[0] == nullptr) {
    ::_exit(guard_main(fd));
  }
  ::setsid();
  if (fd == 0) {
    (void)::fcntl(fd, F_SETFD, 0);
  } else if (::dup2(fd, 0) < 0) {
    ::_exit(127);
  }
  ::execve(argv[0], argv, environ);
  ::_exit(127);
}

}  // namespace

Result<Guard> Guard::start(const std::vector<std::string>& arguments) {
  int ends[2];
  // A socket rather than a pipe: writing to a dead guard must not raise SIGPIPE.
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error{fmt::format("guard: socketpair: {}", std::strerror(errno))};
  }
  FileDescriptor ours(ends[0]);
  FileDescriptor theirs(ends[1]);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);

  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) {
      ::signal(number, SIG_IGN);
    }
    ::close(ours.get());
    become_guard(theirs.get(), argv.data());
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) {
    return Error{fmt::format("guard: fork: {}", std::strerror(errno))};
  }
  theirs.reset();
  Guard guard(std::move(ours), pid);
  // The greeting shows that the program could be executed and has left our session.
  char greeting = 0;
  if (::recv(guard.socket_.get(), &greeting, 1, MSG_WAITALL) != 1) {
    return Error{fmt::format("guard: {} cannot be started as a guard",
                             arguments.empty() ? "a process" : arguments[0])};
  }
  return guard;
}

Guard::~Guard() {
  if (socket_.valid()) {
    socket_.reset();
    wait_for_end();
  }
}

Result<void> Guard::tell(const std::string& line) {
  const std::string message = line + "\n";
  std::size_t sent = 0;
  while (sent < message.size()) {
    const ssize_t n =
        ::send(socket_.get(), message.data() + sent, message.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      return Error{
          fmt::format("the guard process (pid {}) has died: {}", pid_, std::strerror(errno))};
    }
    sent += static_cast<std::size_t>(n);
  }
  return {};
}

Result<void> Guard::watch(const ProcessIdentity& identity) {
  return tell(
      fmt::format("process {} {} {}", identity.pid, identity.start_time, identity.run_token));
}

Result<void> Guard::watch(const std::filesystem::path& directory) {
  if (directory.native().find('\n') != std::string::npos) {
    return Error{fmt::format("a directory with a newline in its name: {}", directory.string())};
  }
  return tell(fmt::format("directory {}", directory.string()));
}

void Guard::forget(const ProcessIdentity& identity) {
  (void)tell(fmt::format("forget-process {} {} {}", identity.pid, identity.start_time,
                         identity.run_token));
}

void Guard::forget(const std::filesystem::path& directory) {
  (void)tell(fmt::format("forget-directory {}", directory.string()));
}

void Guard::release() {
  if (socket_.valid()) {
    (void)tell("quit");
    socket_.reset();
    wait_for_end();
  }
}

void Guard::wait_for_end() {
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace raftperf::cluster
