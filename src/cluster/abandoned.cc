// SPDX-License-Identifier: Apache-2.0
#include "cluster/abandoned.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <optional>
#include <set>
#include <system_error>

#include "cluster/cluster_state.h"
#include "cluster/data_directory.h"
#include "cluster/node_record.h"

namespace raftperf::cluster {
namespace {

namespace fs = std::filesystem;

constexpr const char* kClaim = "owner";
constexpr std::size_t kTokenDigits = 16;

/// The run token at the end of a directory's name.
std::optional<std::uint64_t> token_of(const fs::path& directory) {
  const std::string name = directory.filename().string();
  if (name.size() < kTokenDigits) {
    return std::nullopt;
  }
  const char* begin = name.data() + name.size() - kTokenDigits;
  std::uint64_t token = 0;
  const auto [end, code] = std::from_chars(begin, begin + kTokenDigits, token, 16);
  return code == std::errc{} && end == begin + kTokenDigits ? std::optional(token) : std::nullopt;
}

/// Whether a process that has ended made the directory. No for anything that is not
/// ours, and for one that is just being made.
bool owner_has_ended(const fs::path& directory) {
  struct stat info {};
  if (::lstat(directory.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) ||
      info.st_uid != ::getuid()) {
    return false;
  }
  std::ifstream file(directory / kClaim);
  pid_t pid = -1;
  std::uint64_t start_time = 0;
  if (!(file >> pid >> start_time)) {
    return false;
  }
  const auto stat = read_process_stat(pid);
  return !stat || !stat->alive() || stat->start_time != start_time;
}

std::set<std::uint64_t> tokens_in_use(const StateDirectory& state) {
  std::set<std::uint64_t> tokens;
  for (const pid_t pid : all_pids()) {
    if (const auto token = read_run_token(pid)) {
      tokens.insert(*token);
    }
  }
  for (const ClusterState& kept : kept_clusters(state)) {
    tokens.insert(kept.run_token);
  }
  return tokens;
}

}  // namespace

Result<void> claim_directory(const fs::path& directory) {
  const auto stat = read_process_stat(::getpid());
  return write_file_atomically(directory / kClaim,
                               fmt::format("{} {}\n", ::getpid(), stat ? stat->start_time : 0));
}

std::vector<fs::path> remove_abandoned(const fs::path& parent, const StateDirectory& state) {
  std::vector<fs::path> candidates;
  std::error_code code;
  for (fs::directory_iterator entry(parent, code), end; !code && entry != end;
       entry.increment(code)) {
    if (token_of(entry->path()) && owner_has_ended(entry->path())) {
      candidates.push_back(entry->path());
    }
  }
  std::vector<fs::path> removed;
  if (candidates.empty()) {
    return removed;
  }
  const std::set<std::uint64_t> in_use = tokens_in_use(state);
  for (const fs::path& directory : candidates) {
    if (!in_use.contains(*token_of(directory)) && remove_tree(directory)) {
      removed.push_back(directory);
    }
  }
  return removed;
}

}  // namespace raftperf::cluster
