// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/fixture.h"

#include <cstdlib>
#include <regex>
#include <sstream>

#include "base/check.h"
#include "record/results_folder.h"

namespace raftperf::e2e {

namespace fs = std::filesystem;

Words operator+(Words left, const Words& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

ToolTest::ToolTest() {
  std::string name = fs::temp_directory_path() / "raftperf-e2e-XXXXXX";
  CHECK(::mkdtemp(name.data()) != nullptr);
  directory_ = name;
  fs::create_directory(here());
  fs::create_directory(scratch());
}

ToolTest::~ToolTest() {
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

Process ToolTest::start(const Words& arguments, const Extras& extras) {
  const std::string number = std::to_string(started_++);
  Process::Start start;
  start.command = Words{RAFTPERF_PROGRAM} + arguments;
  if (extras.open_files_max > 0) {
    const std::string limit = "ulimit -n " + std::to_string(extras.open_files_max);
    start.command = Words{"/bin/sh", "-c", limit + "; exec \"$0\" \"$@\""} + start.command;
  }
  start.environment = extras.environment;
  start.environment["RAFTPERF_ROOT"] = RAFTPERF_ROOT;
  start.environment["RAFTPERF_STATE_DIR"] = state();
  start.environment["TMPDIR"] = scratch();
  start.directory = here();
  start.out = extras.out.empty() ? directory_ / ("stdout" + number) : extras.out;
  start.err = extras.err.empty() ? directory_ / ("stderr" + number) : extras.err;
  return Process(start);
}

Ended ToolTest::run(const Words& arguments, const Extras& extras) {
  Process tool = start(arguments, extras);
  Ended ended = tool.wait(kLong);
  EXPECT_GE(ended.status, 0) << "still running after " << kLong.count() << " s\n" << ended.err;
  return ended;
}

Words ToolTest::run_libraft(const Words& more) const {
  return Words{"run", "libraft", "--port-base", port(), "--out", out()} + more;
}

Words ToolTest::run_against(const std::string& nodes, const Words& more) const {
  return Words{"run", "libraft", "--nodes", nodes, "--leader", "any", "--out", out()} + more;
}

record::RunRecord ToolTest::read_record() const {
  auto record = record::read_record(out() / "run.json");
  EXPECT_TRUE(record.ok()) << record.error();
  return record ? *std::move(record) : record::RunRecord{};
}

std::vector<NodeNotice> ToolTest::nodes_of(const Process& tool, std::size_t count) {
  static const std::regex kNotice("node(\\d+) is pid (\\d+) on ");
  std::vector<NodeNotice> nodes;
  const bool all = eventually(
      [&] {
        nodes.clear();
        const std::string text = tool.err();
        for (std::sregex_iterator i(text.begin(), text.end(), kNotice), end; i != end; ++i) {
          nodes.push_back({.node = std::stoi((*i)[1]), .pid = std::stoi((*i)[2])});
        }
        return nodes.size() >= count || !tool.running();
      },
      60s);
  EXPECT_TRUE(all && nodes.size() == count) << tool.err();
  nodes.resize(count);
  return nodes;
}

std::vector<pid_t> ToolTest::servers() const {
  // Every node is told where all of them listen for each other; node 0's is unique.
  std::vector<pid_t> all =
      processes_with("127.0.0.1:" + std::to_string(ports_.base() + PortBlock::kPeersOffset));
  // The tool itself may have the port among its arguments.
  std::erase_if(all, [](pid_t pid) {
    const std::string words = command_line(pid);
    return words.substr(0, words.find(' ')).find("server") == std::string::npos;
  });
  return all;
}

std::vector<pid_t> ToolTest::helpers() const { return processes_with(scratch().string()); }

void ToolTest::expect_no_servers(std::chrono::milliseconds limit) const {
  std::vector<pid_t> left;
  const bool gone = eventually(
      [&] {
        left = servers();
        const auto more = helpers();
        left.insert(left.end(), more.begin(), more.end());
        return left.empty();
      },
      limit);
  std::string named;
  for (const pid_t pid : left) {
    named += std::to_string(pid) + ": " + command_line(pid) + "\n";
  }
  EXPECT_TRUE(gone) << named;
}

std::vector<fs::path> ToolTest::data_directories(const std::vector<pid_t>& servers) {
  std::vector<fs::path> directories;
  for (const pid_t pid : servers) {
    std::istringstream words(command_line(pid));
    for (std::string word; words >> word;) {
      if (word == "--dir" && words >> word) {
        directories.emplace_back(word);
      }
    }
  }
  return directories;
}

void LibraftTest::SetUp() {
  if (RAFTPERF_HAS_LIBRAFT == 0) {
    GTEST_SKIP() << "libraft is not built (needs libraft-dev and libuv1-dev)";
  }
}

stub::StubProcess start_stub(const Words& arguments) {
  auto stub = stub::StubProcess::start(arguments);
  EXPECT_TRUE(stub.ok()) << stub.error();
  return std::move(stub).value();
}

std::uint64_t counter(const nlohmann::json& counters, const std::string& name) {
  EXPECT_TRUE(counters.contains(name)) << name;
  return counters.value(name, std::uint64_t{0});
}

std::uint64_t answered(const nlohmann::json& counters, const std::string& status) {
  return counter(counters.at("answered"), status);
}

}  // namespace raftperf::e2e
