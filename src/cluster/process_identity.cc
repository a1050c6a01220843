// SPDX-License-Identifier: Apache-2.0
#include "cluster/process_identity.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <random>
#include <string_view>

#include "base/file_descriptor.h"

namespace raftperf::cluster {
namespace {

template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::string> read_proc_file(pid_t pid, const char* name) {
  const FileDescriptor fd(
      ::open(fmt::format("/proc/{}/{}", pid, name).c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    return std::nullopt;
  }
  std::string content;
  char buffer[4096];
  while (true) {
    const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
    if (got < 0) {
      return std::nullopt;  // ESRCH: it ended between open and read.
    }
    if (got == 0) {
      return content;
    }
    content.append(buffer, static_cast<std::size_t>(got));
  }
}

/// The n-th blank-separated word, from 0.
std::string_view word(std::string_view text, int n) {
  for (; n > 0; --n) {
    const std::size_t blank = text.find(' ');
    if (blank == std::string_view::npos) {
      return {};
    }
    text.remove_prefix(blank + 1);
  }
  return text.substr(0, text.find(' '));
}

}  // namespace

std::optional<ProcessStat> read_process_stat(pid_t pid) {
  const auto content = read_proc_file(pid, "stat");
  if (!content) {
    return std::nullopt;
  }
  // The second field is the program's name in parentheses, and may itself hold blanks
  // and parentheses: fields are counted from the last closing one (proc(5)).
  const std::size_t name_end = content->rfind(") ");
  if (name_end == std::string::npos) {
    return std::nullopt;
  }
  const std::string_view fields = std::string_view(*content).substr(name_end + 2);
  const std::string_view state = word(fields, 0);
  const auto group = parse_number<pid_t>(word(fields, 2));
  const auto start_time = parse_number<std::uint64_t>(word(fields, 19));
  if (state.empty() || !group || !start_time) {
    return std::nullopt;
  }
  return ProcessStat{.state = state.front(), .group = *group, .start_time = *start_time};
}

std::optional<std::uint64_t> read_run_token(pid_t pid) {
  const auto environment = read_proc_file(pid, "environ");
  if (!environment) {
    return std::nullopt;
  }
  const std::string prefix = std::string(kRunTokenVariable) + "=";
  std::string_view rest = *environment;
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find('\0'));
    if (entry.substr(0, prefix.size()) == prefix) {
      return parse_number<std::uint64_t>(entry.substr(prefix.size()));
    }
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
  }
  return std::nullopt;
}

std::string read_command(pid_t pid) {
  std::string command = read_proc_file(pid, "cmdline").value_or("");
  while (!command.empty() && command.back() == '\0') {
    command.pop_back();
  }
  std::replace_if(
      command.begin(), command.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; },
      ' ');
  return command;
}

bool is_running(const ProcessIdentity& identity) {
  const auto stat = read_process_stat(identity.pid);
  if (!stat || !stat->alive() || stat->start_time != identity.start_time) {
    return false;
  }
  // Ticks since boot can repeat after a reboot, a random token cannot.
  return read_run_token(identity.pid) == identity.run_token;
}

std::vector<pid_t> all_pids() {
  std::vector<pid_t> pids;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir("/proc"), &::closedir);
  if (!directory) {
    return pids;
  }
  while (const dirent* entry = ::readdir(directory.get())) {
    if (const auto pid = parse_number<pid_t>(entry->d_name)) {
      pids.push_back(*pid);
    }
  }
  return pids;
}

std::string token_text(std::uint64_t run_token) { return fmt::format("{:016x}", run_token); }

std::uint64_t new_run_token() {
  std::random_device device;
  std::uint64_t token = 0;
  while (token == 0) {
    token = (static_cast<std::uint64_t>(device()) << 32U) | device();
  }
  return token;
}

}  // namespace raftperf::cluster
