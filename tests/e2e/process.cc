// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

// Debian 12's header of it lacks the linkage of C.
extern "C" {
#include <sys/pidfd.h>
}

#include <algorithm>
#include <charconv>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/check.h"

namespace raftperf::e2e {
namespace {

using namespace std::chrono_literals;

constexpr auto kAskedToEnd = 15s;
constexpr auto kLook = 5ms;

std::vector<std::string> environment_with(const std::map<std::string, std::string>& added) {
  std::vector<std::string> words;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string word(*each);
    // What the caller's shell is set to must not decide what a test sees.
    if (!word.starts_with("RAFTPERF_") && !added.contains(word.substr(0, word.find('=')))) {
      words.push_back(word);
    }
  }
  for (const auto& [name, value] : added) {
    words.push_back(name + "=" + value);
  }
  return words;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) {
    result.push_back(word.data());
  }
  result.push_back(nullptr);
  return result;
}

/// Nothing of a device: /dev/full never ends.
std::string read_regular_file(const std::filesystem::path& path) {
  return std::filesystem::is_regular_file(path) ? read_file(path) : std::string();
}

bool ends_within(int pidfd, std::chrono::milliseconds limit) {
  pollfd waiting{.fd = pidfd, .events = POLLIN, .revents = 0};
  return ::poll(&waiting, 1, static_cast<int>(limit.count())) == 1;
}

}  // namespace

Process::Process(const Start& start) : out_(start.out), err_(start.err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out_.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err_.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_addchdir_np(&actions, start.directory.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<std::string> words = start.command;
  if (!start.name.empty()) {
    words.front() = start.name;
  }
  std::vector<std::string> environment = environment_with(start.environment);
  const int error = ::posix_spawn(&pid_, start.command.front().c_str(), &actions, &attributes,
                                  pointers(words).data(), pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  CHECK_EQ(error, 0);
  pidfd_.reset(::pidfd_open(pid_, 0));
  CHECK(pidfd_.valid());
}

Process::~Process() {
  if (!pidfd_.valid() || status_ >= 0) {
    return;
  }
  send_signal(SIGCONT);
  send_signal(SIGTERM);
  if (wait(kAskedToEnd).status < 0) {
    send_signal(SIGKILL);
    (void)wait(kAskedToEnd);
  }
}

bool Process::running() const { return status_ < 0 && !ends_within(pidfd_.get(), 0ms); }

void Process::send_signal(int signal) const {
  (void)::pidfd_send_signal(pidfd_.get(), signal, nullptr, 0);
}

void Process::send_signal_to_group(int signal) const {
  // Not reaped yet, so the group's number is still this one's.
  if (status_ < 0) {
    ::kill(-pid_, signal);
  }
}

Ended Process::wait(std::chrono::seconds limit) {
  if (status_ < 0 && ends_within(pidfd_.get(), limit)) {
    int status = 0;
    CHECK_EQ(::waitpid(pid_, &status, 0), pid_);
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  return {.status = status_, .out = out(), .err = err()};
}

std::string Process::out() const { return read_regular_file(out_); }

std::string Process::err() const { return read_regular_file(err_); }

bool Process::says(const std::string& text, std::chrono::seconds limit) const {
  bool said = false;
  return eventually(
             [&] {
               const bool ended = !running();
               said = out().find(text) != std::string::npos;
               return said || ended;
             },
             limit) &&
         said;
}

bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::sleep_for(kLook);
  }
  return true;
}

bool is_alive(pid_t pid) {
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat.rfind(')');
  // Where nobody reaps orphans they stay as zombies.
  return name_end != std::string::npos && name_end + 2 < stat.size() && stat[name_end + 2] != 'Z' &&
         stat[name_end + 2] != 'X';
}

std::string command_line(pid_t pid) {
  std::string text = read_file("/proc/" + std::to_string(pid) + "/cmdline");
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

std::vector<pid_t> processes_with(const std::string& text) {
  std::vector<pid_t> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (code == std::errc{} && end == name.data() + name.size() && pid != ::getpid() &&
        is_alive(pid) && command_line(pid).find(text) != std::string::npos) {
      found.push_back(pid);
    }
  }
  return found;
}

std::string read_file(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace raftperf::e2e
