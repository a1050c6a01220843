// SPDX-License-Identifier: Apache-2.0
#include "cluster/node_record.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/file_descriptor.h"

namespace raftperf::cluster {
namespace {

namespace fs = std::filesystem;

bool write_all(int fd, const std::string& content) {
  std::size_t written = 0;
  while (written < content.size()) {
    const ssize_t n = ::write(fd, content.data() + written, content.size() - written);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      return false;
    }
    written += static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

Result<void> write_file_atomically(const fs::path& file, const std::string& content) {
  const std::string temporary = fmt::format("{}.{}.new", file.string(), ::getpid());
  FileDescriptor fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  const bool done = fd.valid() && write_all(fd.get(), content) && ::fsync(fd.get()) == 0 &&
                    ::rename(temporary.c_str(), file.c_str()) == 0;
  if (!done) {
    const int code = errno;
    (void)::unlink(temporary.c_str());
    return Error{fmt::format("{}: {}", file.string(), std::strerror(code))};
  }
  return {};
}

Result<void> write_node_record(const fs::path& file, const NodeRecord& record) {
  const nlohmann::ordered_json json{{"pid", record.identity.pid},
                                    {"start_time", record.identity.start_time},
                                    {"run_token", std::to_string(record.identity.run_token)},
                                    {"node", record.node},
                                    {"endpoints", record.endpoints},
                                    {"log", record.log.string()},
                                    {"data_directory", record.data_directory.string()},
                                    {"command", record.command},
                                    {"environment", record.environment}};
  return write_file_atomically(file, json.dump(2) + "\n");
}

Result<NodeRecord> read_node_record(const fs::path& file) {
  std::ifstream input(file);
  std::ostringstream content;
  content << input.rdbuf();
  if (!input) {
    return Error{fmt::format("{}: cannot be read", file.string())};
  }
  try {
    const auto json = nlohmann::json::parse(content.str());
    NodeRecord record;
    record.node = json.at("node").get<int>();
    record.identity.pid = json.at("pid").get<pid_t>();
    record.identity.start_time = json.at("start_time").get<std::uint64_t>();
    record.identity.run_token = std::stoull(json.at("run_token").get<std::string>());
    record.endpoints = json.at("endpoints").get<std::map<std::string, std::string>>();
    record.log = json.at("log").get<std::string>();
    record.data_directory = json.at("data_directory").get<std::string>();
    record.command = json.at("command").get<std::vector<std::string>>();
    record.environment = json.at("environment").get<std::map<std::string, std::string>>();
    if (record.identity.pid <= 1 || record.node < 0) {
      return Error{fmt::format("{}: is not a pid file of ours", file.string())};
    }
    return record;
  } catch (const std::exception& error) {
    return Error{fmt::format("{}: is not a pid file of ours: {}", file.string(), error.what())};
  }
}

}  // namespace raftperf::cluster
