// SPDX-License-Identifier: Apache-2.0
#include "cluster/process_group.h"

#include <fmt/format.h>
#include <poll.h>

// glibc before 2.37 forgets that C++ may include it.
extern "C" {
#include <sys/pidfd.h>
}

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

namespace raftperf::cluster {
namespace {

using Clock = std::chrono::steady_clock;

// linux/pidfd.h since 6.9. Older kernels answer EINVAL.
constexpr unsigned kSignalProcessGroup = 1U << 2U;

constexpr std::chrono::milliseconds kKillPatience{2000};
// Bounds how long a process forked between two looks at /proc stays unseen.
constexpr std::chrono::milliseconds kLookAgain{100};

bool is_readable(int fd) {
  pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&waiting, 1, 0) > 0;
}

struct Member {
  pid_t pid = -1;
  pid_t group = -1;
};

/// Every living process whose group has one of the ids of `groups`.
std::vector<Member> find_members(std::span<const ProcessGroup* const> groups) {
  std::vector<Member> members;
  for (const pid_t pid : all_pids()) {
    const auto stat = read_process_stat(pid);
    if (!stat || !stat->alive()) {
      continue;
    }
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const ProcessGroup* g) {
      return g->identity().pid == stat->group;
    });
    if (group == groups.end()) {
      continue;
    }
    const ProcessIdentity& leader = (*group)->identity();
    // While its leader is there, reaped or not, the number of a group is taken. After
    // that it may have become another one's.
    const auto leader_stat = read_process_stat(leader.pid);
    if ((leader_stat && leader_stat->start_time == leader.start_time) ||
        read_run_token(pid) == leader.run_token) {
      members.push_back(Member{.pid = pid, .group = stat->group});
    }
  }
  return members;
}

bool contains_group(const std::vector<Member>& members, const ProcessGroup& group) {
  return std::any_of(members.begin(), members.end(),
                     [&](const Member& m) { return m.group == group.identity().pid; });
}

/// Returns when one of the processes ends, or at `until`.
void wait_for_an_exit(const std::vector<Member>& members, Clock::time_point until) {
  std::vector<FileDescriptor> owned;
  std::vector<pollfd> waiting;
  for (const Member& member : members) {
    owned.emplace_back(::pidfd_open(member.pid, 0));
    if (!owned.back().valid()) {
      return;  // It ended just now.
    }
    waiting.push_back(pollfd{.fd = owned.back().get(), .events = POLLIN, .revents = 0});
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  const auto bounded = std::clamp(left, std::chrono::milliseconds{0}, kLookAgain);
  (void)::poll(waiting.data(), waiting.size(), static_cast<int>(bounded.count()));
}

}  // namespace

std::string_view to_string(StopOutcome outcome) noexcept {
  switch (outcome) {
    case StopOutcome::kAlreadyGone:
      return "already gone";
    case StopOutcome::kTerminated:
      return "stopped";
    case StopOutcome::kKilled:
      return "killed: it did not end on SIGTERM";
    case StopOutcome::kStillAlive:
      return "still alive after SIGKILL";
  }
  return "?";
}

Result<ProcessGroup> ProcessGroup::open(const ProcessIdentity& identity) {
  CHECK(identity.pid > 1);
  FileDescriptor pidfd(::pidfd_open(identity.pid, 0));
  if (!pidfd.valid()) {
    return Error{fmt::format("pid {}: {}", identity.pid,
                             errno == ESRCH ? "no such process" : std::strerror(errno))};
  }
  // Opened first, compared second: if the start time fits now, the descriptor cannot
  // mean a later process.
  const auto stat = read_process_stat(identity.pid);
  if (!stat || stat->start_time != identity.start_time) {
    return Error{fmt::format("pid {} is not ours: another program has it now", identity.pid)};
  }
  return ProcessGroup(identity, std::move(pidfd));
}

bool ProcessGroup::leader_ended() const { return !pidfd_.valid() || is_readable(pidfd_.get()); }

bool ProcessGroup::signal(int number) const {
  if (pidfd_.valid()) {
    if (::pidfd_send_signal(pidfd_.get(), number, nullptr, kSignalProcessGroup) == 0) {
      return true;
    }
    if (errno != EINVAL) {
      return false;
    }
  }
  const ProcessGroup* self = this;
  if (leader_ended() && living_members({&self, 1}).empty()) {
    return false;  // Without that flag: never signal a group that may have become another's.
  }
  return ::kill(-identity_.pid, number) == 0;
}

std::vector<pid_t> living_members(std::span<const ProcessGroup* const> groups) {
  std::vector<pid_t> pids;
  for (const Member& member : find_members(groups)) {
    pids.push_back(member.pid);
  }
  return pids;
}

bool wait_until_gone(std::span<const ProcessGroup* const> groups,
                     std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  while (true) {
    const std::vector<Member> members = find_members(groups);
    if (members.empty()) {
      return true;
    }
    if (Clock::now() >= deadline) {
      return false;
    }
    wait_for_an_exit(members, deadline);
  }
}

std::vector<StopOutcome> stop_groups(std::span<const ProcessGroup* const> groups,
                                     std::chrono::milliseconds grace) {
  std::vector<StopOutcome> outcomes(groups.size(), StopOutcome::kAlreadyGone);
  std::vector<Member> alive = find_members(groups);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (contains_group(alive, *groups[i])) {
      outcomes[i] = StopOutcome::kTerminated;
      groups[i]->signal(SIGTERM);
      groups[i]->signal(SIGCONT);
    }
  }
  if (wait_until_gone(groups, grace)) {
    return outcomes;
  }
  alive = find_members(groups);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (contains_group(alive, *groups[i])) {
      outcomes[i] = StopOutcome::kKilled;
      groups[i]->signal(SIGKILL);
    }
  }
  if (!wait_until_gone(groups, kKillPatience)) {
    alive = find_members(groups);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (contains_group(alive, *groups[i])) {
        outcomes[i] = StopOutcome::kStillAlive;
      }
    }
  }
  return outcomes;
}

}  // namespace raftperf::cluster
