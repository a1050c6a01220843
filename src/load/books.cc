// SPDX-License-Identifier: Apache-2.0
#include "load/books.h"

#include <fmt/format.h>

#include <numeric>

namespace raftperf::load {
namespace {

template <std::size_t N>
void add_each(std::array<std::uint64_t, N>& to, const std::array<std::uint64_t, N>& from) noexcept {
  for (std::size_t i = 0; i < N; ++i) {
    to[i] += from[i];
  }
}

template <std::size_t N>
std::uint64_t total(const std::array<std::uint64_t, N>& counts) noexcept {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

}  // namespace

std::string_view to_string(Drop drop) noexcept {
  constexpr std::array<std::string_view, kDropCount> kNames{"inflight_cap", "rig_late", "no_leader",
                                                            "not_accepted"};
  return kNames[static_cast<std::size_t>(drop)];
}

std::string_view to_string(Unknown unknown) noexcept {
  constexpr std::array<std::string_view, kUnknownCount> kNames{"timeout", "connection_lost",
                                                               "unanswered"};
  return kNames[static_cast<std::size_t>(unknown)];
}

std::uint64_t Books::dropped_total() const noexcept { return total(dropped); }
std::uint64_t Books::unknown_total() const noexcept { return total(unknown); }

void Books::add(const Books& other) noexcept {
  scheduled += other.scheduled;
  sent += other.sent;
  add_each(dropped, other.dropped);
  ok += other.ok;
  rejected += other.rejected;
  add_each(unknown, other.unknown);
}

std::string Books::imbalance(std::uint64_t recorded) const {
  if (scheduled != sent + dropped_total()) {
    return fmt::format("scheduled {} is not sent {} + dropped {}", scheduled, sent,
                       dropped_total());
  }
  if (sent != ok + rejected + unknown_total()) {
    return fmt::format("sent {} is not ok {} + rejected {} + unknown {}", sent, ok, rejected,
                       unknown_total());
  }
  if (recorded != ok) {
    return fmt::format("the histogram holds {} values for {} ok operations", recorded, ok);
  }
  return {};
}

void Counts::add(const Counts& other) noexcept {
  attempts += other.attempts;
  redirects += other.redirects;
  mismatches += other.mismatches;
  at_cap += other.at_cap;
  add_each(rejected_by, other.rejected_by);
}

}  // namespace raftperf::load
