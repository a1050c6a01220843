// SPDX-License-Identifier: Apache-2.0
#include "stub/stub_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

// Debian 12's header of it lacks the linkage of C.
extern "C" {
#include <sys/pidfd.h>
}

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/check.h"

namespace raftperf::stub {
namespace {

constexpr int kWaitMaxMs = 30'000;

Error failed(const std::string& what) { return Error{what + ": " + std::strerror(errno)}; }

bool becomes_readable(int fd) {
  pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&waiting, 1, kWaitMaxMs) == 1;
}

std::string read_file(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

Result<StubProcess> StubProcess::start(const std::vector<std::string>& arguments) {
  return start(RAFTPERF_STUB_PROGRAM, arguments);
}

Result<StubProcess> StubProcess::start(const std::filesystem::path& program,
                                       const std::vector<std::string>& arguments) {
  StubProcess stub;
  std::string name = std::filesystem::temp_directory_path() / "raftperf-stub-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    return failed("mkdtemp");
  }
  stub.directory_ = name;
  std::vector<std::string> words{program,
                                 "--parent",
                                 std::to_string(::getpid()),
                                 "--counters-file",
                                 stub.directory_ / "counters.json",
                                 "--arrival-log",
                                 stub.arrival_log()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  if (auto spawned = stub.spawn(std::move(words)); !spawned) {
    return Error{spawned.error()};
  }
  if (auto read = stub.read_ready_line(); !read) {
    const int status = stub.wait();
    return Error{"exit " + std::to_string(status) + ": " + stub.standard_error()};
  }
  stub.directory_events_.reset(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (::inotify_add_watch(stub.directory_events_.get(), name.c_str(), IN_MOVED_TO) < 0) {
    return failed("inotify");
  }
  return stub;
}

Result<void> StubProcess::spawn(std::vector<std::string> arguments) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return failed("pipe");
  }
  output_.reset(ends[0]);
  const FileDescriptor write_end(ends[1]);
  const std::string error_path = directory_ / "stderr";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, error_path.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0644);
  std::vector<char*> argv;
  for (std::string& argument : arguments) {
    argv.push_back(argument.data());
  }
  argv.push_back(nullptr);
  errno = ::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (errno != 0) {
    pid_ = -1;
    return failed(arguments.front());
  }
  pidfd_.reset(::pidfd_open(pid_, 0));
  return pidfd_.valid() ? Result<void>{} : failed("pidfd_open");
}

Result<void> StubProcess::read_ready_line() {
  std::string line;
  while (line.find('\n') == std::string::npos) {
    std::array<char, 512> room;
    const ssize_t count =
        becomes_readable(output_.get()) ? ::read(output_.get(), room.data(), room.size()) : 0;
    if (count <= 0) {
      return Error{"no ready line"};
    }
    line.append(room.data(), static_cast<std::size_t>(count));
  }
  ready_ = nlohmann::json::parse(line);
  auto endpoint = net::parse_endpoint(ready_.at("client").get<std::string>());
  if (!endpoint) {
    return Error{endpoint.error()};
  }
  endpoint_ = *std::move(endpoint);
  return {};
}

StubProcess::StubProcess(StubProcess&& other) noexcept
    : directory_(std::exchange(other.directory_, {})),
      pid_(std::exchange(other.pid_, -1)),
      exit_status_(other.exit_status_),
      pidfd_(std::move(other.pidfd_)),
      output_(std::move(other.output_)),
      directory_events_(std::move(other.directory_events_)),
      endpoint_(std::move(other.endpoint_)),
      ready_(std::move(other.ready_)) {}

StubProcess::~StubProcess() {
  if (pid_ > 0) {
    send_signal(SIGKILL);
    wait();
  }
  if (!directory_.empty()) {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
}

void StubProcess::send_signal(int signal) const noexcept {
  // By pidfd: a pid could belong to somebody else by now.
  (void)::pidfd_send_signal(pidfd_.get(), signal, nullptr, 0);
}

nlohmann::json StubProcess::counters() {
  send_signal(SIGUSR1);
  std::array<char, 4096> events;
  CHECK(becomes_readable(directory_events_.get()));
  while (::read(directory_events_.get(), events.data(), events.size()) > 0) {
  }
  return counters_file();
}

int StubProcess::wait() {
  if (pid_ > 0 && becomes_readable(pidfd_.get())) {
    int status = 0;
    if (::waitpid(pid_, &status, 0) == pid_) {
      exit_status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      pid_ = -1;
    }
  }
  return exit_status_;
}

int StubProcess::stop() {
  send_signal(SIGTERM);
  return wait();
}

nlohmann::json StubProcess::counters_file() const {
  return nlohmann::json::parse(read_file(directory_ / "counters.json"));
}

std::string StubProcess::standard_error() const { return read_file(directory_ / "stderr"); }

}  // namespace raftperf::stub
