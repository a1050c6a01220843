// SPDX-License-Identifier: Apache-2.0
#include "record/environment.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace raftperf::record {
namespace {

std::optional<std::string> first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) {
    return std::nullopt;
  }
  return line;
}

/// The value of "name : value" or "name: value" in a file of such lines.
std::optional<std::string> field(const std::filesystem::path& path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || !line.starts_with(name)) {
      continue;
    }
    const std::size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? std::string() : line.substr(start);
  }
  return std::nullopt;
}

Json text_or_null(const std::optional<std::string>& text) {
  return text ? Json(*text) : Json(nullptr);
}

Json cpu_json() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const bool known = ::sched_getaffinity(0, sizeof set, &set) == 0;
  const auto flags = field("/proc/cpuinfo", "flags");
  return {
      {"model", text_or_null(field("/proc/cpuinfo", "model name"))},
      {"online", ::sysconf(_SC_NPROCESSORS_ONLN)},
      {"usable", known ? Json(CPU_COUNT(&set)) : Json(nullptr)},
      {"hypervisor", flags ? Json(flags->find("hypervisor") != std::string::npos) : Json(nullptr)},
      {"smt_active", text_or_null(first_line("/sys/devices/system/cpu/smt/active"))},
      {"governor",
       text_or_null(first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))},
      {"isolated", text_or_null(first_line("/sys/devices/system/cpu/isolated"))},
      {"cgroup_limit", text_or_null(first_line("/sys/fs/cgroup/cpu.max"))}};
}

Json limits_json() {
  rlimit files{};
  const bool known = ::getrlimit(RLIMIT_NOFILE, &files) == 0;
  return {{"open_files", known ? Json(files.rlim_cur) : Json(nullptr)},
          {"local_ports", text_or_null(first_line("/proc/sys/net/ipv4/ip_local_port_range"))},
          {"rmem_max", text_or_null(first_line("/proc/sys/net/core/rmem_max"))},
          {"wmem_max", text_or_null(first_line("/proc/sys/net/core/wmem_max"))}};
}

Json build_json() {
  return {{"compiler", RAFTPERF_COMPILER},
          {"type", RAFTPERF_BUILD_TYPE},
          {"sanitizers", RAFTPERF_SANITIZERS},
          {"commit", RAFTPERF_COMMIT}};
}

}  // namespace

Json capture_environment() {
  utsname kernel{};
  const bool known = ::uname(&kernel) == 0;
  return {{"captured_utc", utc_text(std::chrono::system_clock::now())},
          {"kernel",
           known ? Json(fmt::format("{} {}", kernel.sysname, kernel.release)) : Json(nullptr)},
          {"architecture", known ? Json(kernel.machine) : Json(nullptr)},
          {"distribution", text_or_null(first_line("/etc/issue.net"))},
          {"cpu", cpu_json()},
          {"memory_kib", text_or_null(field("/proc/meminfo", "MemTotal"))},
          {"clock_source", text_or_null(first_line("/sys/devices/system/clocksource/clocksource0/"
                                                   "current_clocksource"))},
          {"load_average", text_or_null(first_line("/proc/loadavg"))},
          {"transparent_huge_pages",
           text_or_null(first_line("/sys/kernel/mm/transparent_hugepage/enabled"))},
          {"limits", limits_json()},
          {"build", build_json()}};
}

std::optional<MachineCpu> machine_cpu() {
  const auto line = first_line("/proc/stat");
  if (!line || !line->starts_with("cpu ")) {
    return std::nullopt;
  }
  // proc(5): user nice system idle iowait irq softirq steal; guest time is in user.
  std::istringstream fields(line->substr(4));
  std::uint64_t ticks[8] = {};
  for (std::uint64_t& tick : ticks) {
    fields >> tick;
  }
  MachineCpu cpu;
  for (const std::uint64_t tick : ticks) {
    cpu.total += tick;
  }
  cpu.stolen = ticks[7];
  cpu.busy = cpu.total - ticks[3] - ticks[4] - cpu.stolen;
  return cpu;
}

namespace {

std::optional<double> share_between(const std::optional<MachineCpu>& from,
                                    const std::optional<MachineCpu>& to,
                                    std::uint64_t MachineCpu::*part) {
  if (!from || !to || to->total <= from->total) {
    return std::nullopt;
  }
  return static_cast<double>((*to).*part - (*from).*part) /
         static_cast<double>(to->total - from->total);
}

}  // namespace

std::optional<double> steal_share(const std::optional<MachineCpu>& from,
                                  const std::optional<MachineCpu>& to) {
  return share_between(from, to, &MachineCpu::stolen);
}

std::optional<double> busy_share(const std::optional<MachineCpu>& from,
                                 const std::optional<MachineCpu>& to) {
  return share_between(from, to, &MachineCpu::busy);
}

std::string utc_text(std::chrono::system_clock::time_point time) {
  const auto millis = std::chrono::floor<std::chrono::milliseconds>(time);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(millis);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)),
                     (millis - seconds).count());
}

}  // namespace raftperf::record
