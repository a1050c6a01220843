// SPDX-License-Identifier: Apache-2.0
#include "stub/counters.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

namespace raftperf::stub {
namespace {

Result<void> write_whole(const std::string& text, const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr) {
    return Error{fmt::format("{}: {}", path, std::strerror(errno))};
  }
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = std::fclose(file) == 0;
  if (!written || !closed) {
    return Error{fmt::format("{}: {}", path, std::strerror(errno))};
  }
  return {};
}

}  // namespace

std::string to_json(const Counters& counters) {
  nlohmann::ordered_json answered;
  for (std::size_t i = 0; i < counters.answered.size(); ++i) {
    answered[std::string(wire::to_string(static_cast<wire::Status>(i)))] = counters.answered[i];
  }
  const nlohmann::ordered_json json{
      {"received", counters.received},
      {"received_appends", counters.received_appends},
      {"received_compare_and_sets", counters.received_compare_and_sets},
      {"received_gets", counters.received_gets},
      {"applied", counters.applied},
      {"answered", answered},
      {"dropped", counters.dropped},
      {"held", counters.held},
      {"acknowledged_without_apply", counters.acknowledged_without_apply},
      {"closed_without_answer", counters.closed_without_answer},
      {"answers_lost", counters.answers_lost},
      {"pending", counters.pending},
      {"hellos", counters.hellos},
      {"status_requests", counters.status_requests},
      {"transfers", counters.transfers},
      {"connections_accepted", counters.connections_accepted},
      {"connections_closed", counters.connections_closed},
      {"connections_malformed", counters.connections_malformed},
      {"receive_calls", counters.receive_calls},
      {"send_calls", counters.send_calls},
      {"frames_received", counters.frames_received},
      {"frames_sent", counters.frames_sent},
      {"bytes_received", counters.bytes_received},
      {"bytes_sent", counters.bytes_sent},
      {"dumps", counters.dumps},
  };
  return json.dump(2) + "\n";
}

Result<void> write_counters(const Counters& counters, const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    return write_whole(to_json(counters), path);
  }
  const std::string partial = path + ".partial";
  if (auto written = write_whole(to_json(counters), partial); !written) {
    return written;
  }
  if (std::rename(partial.c_str(), path.c_str()) != 0) {
    return Error{fmt::format("{}: {}", path, std::strerror(errno))};
  }
  return {};
}

}  // namespace raftperf::stub
