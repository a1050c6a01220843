// SPDX-License-Identifier: Apache-2.0
#include "cluster/port_owner.h"

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string_view>

#include "cluster/process_identity.h"
#include "net/socket.h"

namespace raftperf::cluster {
namespace {

constexpr std::string_view kListening = "0A";  // TCP_LISTEN, linux/include/net/tcp_states.h

struct SocketEntry {
  std::string inode;
  bool listening = false;
};

std::optional<SocketEntry> find_in(const char* table, std::uint16_t port) {
  std::ifstream file(table);
  std::string line;
  std::getline(file, line);  // The heading.
  const std::string suffix = fmt::format(":{:04X}", port);
  std::optional<SocketEntry> found;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string slot, local, remote, state, queues, timer, retransmits, uid, timeout, inode;
    words >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> uid >> timeout >>
        inode;
    // Inode 0 is a connection without an owner, in TIME_WAIT: it hinders nobody.
    if (!words || !local.ends_with(suffix) || inode == "0") {
      continue;
    }
    if (state == kListening) {
      return SocketEntry{.inode = inode, .listening = true};
    }
    found = SocketEntry{.inode = inode, .listening = false};
  }
  return found;
}

bool holds_socket(pid_t pid, const std::string& link_text) {
  const std::string path = fmt::format("/proc/{}/fd", pid);
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), &::closedir);
  if (!directory) {
    return false;
  }
  char target[64];
  while (const dirent* entry = ::readdir(directory.get())) {
    const ssize_t length =
        ::readlinkat(::dirfd(directory.get()), entry->d_name, target, sizeof target);
    if (length > 0 && std::string_view(target, static_cast<std::size_t>(length)) == link_text) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<PortOwner> find_port_owner(std::uint16_t port) {
  auto entry = find_in("/proc/net/tcp", port);
  if (!entry || !entry->listening) {
    auto sixth = find_in("/proc/net/tcp6", port);
    if (sixth && (!entry || sixth->listening)) {
      entry = sixth;
    }
  }
  if (!entry) {
    return std::nullopt;
  }
  const std::string link_text = fmt::format("socket:[{}]", entry->inode);
  for (const pid_t pid : all_pids()) {
    if (holds_socket(pid, link_text)) {
      return PortOwner{.pid = pid, .command = read_command(pid), .run_token = read_run_token(pid)};
    }
  }
  return PortOwner{};
}

bool port_is_free(const std::string& host, std::uint16_t port) {
  return net::listen_on(host, port).ok();
}

}  // namespace raftperf::cluster
