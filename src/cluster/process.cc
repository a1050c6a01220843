// SPDX-License-Identifier: Apache-2.0
#include "cluster/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

extern char** environ;

namespace raftperf::cluster {
namespace {

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return Error{fmt::format("pipe: {}", std::strerror(errno))};
  }
  return Pipe{.read_end = FileDescriptor(ends[0]), .write_end = FileDescriptor(ends[1])};
}

/// All that the child needs, made before the fork: between fork and exec a child of a
/// program with threads may do little more than system calls.
struct Prepared {
  std::vector<std::string> environment;
  std::vector<char*> argv;
  std::vector<char*> envp;
  FileDescriptor null;
  FileDescriptor log;
  const char* working_directory = nullptr;
};

std::vector<std::string> merged_environment(const ProcessOptions& options) {
  std::map<std::string, std::string> additions = options.environment;
  additions[kRunTokenVariable] = std::to_string(options.run_token);
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text(*entry);
    if (!additions.contains(text.substr(0, text.find('=')))) {
      merged.push_back(text);
    }
  }
  for (const auto& [name, value] : additions) {
    merged.push_back(fmt::format("{}={}", name, value));
  }
  return merged;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) {
    result.push_back(const_cast<char*>(text.c_str()));
  }
  result.push_back(nullptr);
  return result;
}

Result<Prepared> prepare(const ProcessOptions& options) {
  Prepared prepared;
  prepared.environment = merged_environment(options);
  prepared.argv = pointers(options.arguments);
  prepared.envp = pointers(prepared.environment);
  prepared.null.reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  prepared.log.reset(::open(options.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!prepared.log.valid()) {
    return Error{fmt::format("{}: {}", options.log.string(), std::strerror(errno))};
  }
  prepared.working_directory = options.working_directory.c_str();
  return prepared;
}

[[noreturn]] void give_up(int error_fd) {
  const int code = errno;
  (void)!::write(error_fd, &code, sizeof code);
  ::_exit(127);
}

/// The child's side of the fork. Waits for one byte, which says that the guard knows
/// it; the end of file instead says that our parent died.
[[noreturn]] void become_program(const Prepared& prepared, int go_fd, int error_fd) {
  ::setsid();
  for (int number = 1; number < NSIG; ++number) {
    ::signal(number, SIG_DFL);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  char go = 0;
  ssize_t got = -1;
  do {
    got = ::read(go_fd, &go, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) {
    ::_exit(127);
  }
  if (::dup2(prepared.null.get(), 0) < 0 || ::dup2(prepared.log.get(), 1) < 0 ||
      ::dup2(prepared.log.get(), 2) < 0) {
    give_up(error_fd);
  }
  // Whatever the shell or a build tool left open for us (a pipe to `tee`, a job server)
  // must not be held open by a server that outlives us.
  (void)::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  if (::chdir(prepared.working_directory) != 0) {
    give_up(error_fd);
  }
  ::execve(prepared.argv[0], prepared.argv.data(), prepared.envp.data());
  give_up(error_fd);
}

/// Forks with all signals blocked, so that no handler of ours runs in the child.
pid_t fork_quietly(const Prepared& prepared, Pipe& go, Pipe& error) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  if (pid == 0) {
    // Its own copy of the writing end would hide our death from the child.
    ::close(go.write_end.get());
    ::close(error.read_end.get());
    become_program(prepared, go.read_end.get(), error.write_end.get());
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return pid;
}

void wait_for(pid_t pid) noexcept {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

/// The errno with which the child failed to become the program, 0 if it did.
int exec_error(int error_fd) {
  int code = 0;
  ssize_t got = -1;
  do {
    got = ::read(error_fd, &code, sizeof code);
  } while (got < 0 && errno == EINTR);
  return got == sizeof code ? code : 0;
}

Result<ProcessGroup> open_child(pid_t pid, const ProcessOptions& options) {
  const auto stat = read_process_stat(pid);
  if (!stat) {
    return Error{fmt::format("/proc/{}/stat cannot be read; is /proc mounted?", pid)};
  }
  const ProcessIdentity identity{
      .pid = pid, .start_time = stat->start_time, .run_token = options.run_token};
  auto group = ProcessGroup::open(identity);
  if (group && options.before_exec) {
    if (auto told = options.before_exec(identity); !told) {
      return Error{told.error()};
    }
  }
  return group;
}

}  // namespace

std::string to_string(const ExitStatus& status) {
  if (status.signal_number) {
    return fmt::format("was killed by signal {} ({})", *status.signal_number,
                       ::strsignal(*status.signal_number));
  }
  return status.code ? fmt::format("exited with status {}", *status.code) : "ended";
}

Result<Process> Process::start(const ProcessOptions& options) {
  CHECK(!options.arguments.empty());
  auto prepared = prepare(options);
  auto go = make_pipe();
  auto error = make_pipe();
  if (!prepared || !go || !error) {
    return Error{!prepared ? prepared.error() : !go ? go.error() : error.error()};
  }
  const pid_t pid = fork_quietly(*prepared, *go, *error);
  if (pid < 0) {
    return Error{fmt::format("fork: {}", std::strerror(errno))};
  }
  error->write_end.reset();
  auto group = open_child(pid, options);
  if (!group) {
    go->write_end.reset();  // The child reads the end of file and ends.
    wait_for(pid);
    return Error{group.error()};
  }
  (void)!::write(go->write_end.get(), "g", 1);
  if (const int code = exec_error(error->read_end.get()); code != 0) {
    wait_for(pid);
    return Error{fmt::format("{}: {}", options.arguments[0], std::strerror(code))};
  }
  return Process(*std::move(group), Origin::kStarted);
}

Result<Process> Process::adopt(const ProcessIdentity& identity) {
  auto group = ProcessGroup::open(identity);
  if (!group) {
    return Error{group.error()};
  }
  if (!is_running(identity)) {
    return Error{fmt::format("pid {} is not ours: another program has it now", identity.pid)};
  }
  return Process(*std::move(group), Origin::kAdopted);
}

std::optional<ExitStatus> Process::exit_status() const {
  if (!ended()) {
    return std::nullopt;
  }
  siginfo_t info{};
  if (origin_ == Origin::kAdopted ||
      ::waitid(P_PIDFD, static_cast<id_t>(group_.pidfd()), &info, WEXITED | WNOWAIT | WNOHANG) !=
          0 ||
      info.si_pid == 0) {
    return ExitStatus{};
  }
  if (info.si_code == CLD_EXITED) {
    return ExitStatus{.code = info.si_status, .signal_number = std::nullopt};
  }
  return ExitStatus{.code = std::nullopt, .signal_number = info.si_status};
}

void Process::reap() noexcept {
  if (origin_ == Origin::kStarted && ended()) {
    siginfo_t info{};
    (void)::waitid(P_PIDFD, static_cast<id_t>(group_.pidfd()), &info, WEXITED | WNOHANG);
  }
}

}  // namespace raftperf::cluster
