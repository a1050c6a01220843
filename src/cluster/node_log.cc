// SPDX-License-Identifier: Apache-2.0
#include "cluster/node_log.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

namespace raftperf::cluster {
namespace {

constexpr std::uint64_t kTailBytes = 8192;
constexpr std::size_t kLineMax = 65536;

std::optional<ReadyLineReader::ReadyLine> parse_ready(const std::string& line) {
  if (line.empty() || line.front() != '{') {
    return std::nullopt;
  }
  const auto json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object() || json.value("event", nlohmann::json()) != "ready") {
    return std::nullopt;
  }
  ReadyLineReader::ReadyLine ready;
  const auto token = json.find("run_token");
  if (token != json.end() && token->is_number_unsigned()) {
    ready.run_token = token->get<std::uint64_t>();
  } else if (token != json.end() && token->is_string()) {
    const auto text = token->get<std::string>();
    std::uint64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code == std::errc{} && end == text.data() + text.size()) {
      ready.run_token = value;
    }
  }
  return ready;
}

}  // namespace

std::optional<ReadyLineReader::ReadyLine> ReadyLineReader::poll() {
  std::ifstream input(log_, std::ios::binary);
  input.seekg(static_cast<std::streamoff>(offset_));
  std::ostringstream content;
  content << input.rdbuf();
  const std::string fresh = content.str();
  offset_ += fresh.size();
  partial_ += fresh;
  std::size_t end = 0;
  while ((end = partial_.find('\n')) != std::string::npos) {
    const auto ready = parse_ready(partial_.substr(0, end));
    partial_.erase(0, end + 1);
    if (ready) {
      return ready;
    }
  }
  if (partial_.size() > kLineMax) {
    partial_.clear();  // No ready line is that long.
  }
  return std::nullopt;
}

std::string log_tail(const std::filesystem::path& log, int lines) {
  std::ifstream input(log, std::ios::binary | std::ios::ate);
  if (!input) {
    return "    (no log)";
  }
  const auto size = static_cast<std::uint64_t>(std::max<std::streamoff>(0, input.tellg()));
  input.seekg(static_cast<std::streamoff>(size - std::min(size, kTailBytes)));
  std::vector<std::string> all;
  std::string line;
  while (std::getline(input, line)) {
    all.push_back("    " + line);
  }
  if (all.empty()) {
    return "    (the log is empty)";
  }
  std::string text;
  const auto count = std::min(all.size(), static_cast<std::size_t>(lines));
  for (auto i = all.end() - static_cast<std::ptrdiff_t>(count); i != all.end(); ++i) {
    text += (text.empty() ? "" : "\n") + *i;
  }
  return text;
}

}  // namespace raftperf::cluster
