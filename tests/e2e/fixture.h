// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "record/run_record.h"
#include "stub/stub_process.h"
#include "tests/e2e/port_block.h"
#include "tests/e2e/process.h"
#include "tests/e2e/results.h"

namespace raftperf::e2e {

using namespace std::chrono_literals;

inline constexpr std::int64_t kMillisecond = 1'000'000;  ///< In ns.
/// For a run of a few seconds on a machine that others use too.
inline constexpr auto kLong = 90s;

using Words = std::vector<std::string>;
Words operator+(Words left, const Words& right);

/// A node as the tool names it on standard error.
struct NodeNotice {
  int node = -1;
  pid_t pid = -1;
};

/// What a test may change about the tool's surroundings.
struct Extras {
  std::map<std::string, std::string> environment = {};
  std::filesystem::path out = {};  ///< Standard output; a file of ours if empty.
  std::filesystem::path err = {};  ///< Standard error likewise.
  int open_files_max = 0;          ///< 0: the caller's.
};

/// Drives the tool in a folder of its own, with a state directory of its own and free
/// ports. What it leaves running fails no test but is stopped with the tool.
class ToolTest : public ::testing::Test {
 protected:
  ToolTest();
  ~ToolTest() override;

  Process start(const Words& arguments, const Extras& extras = {});
  Ended run(const Words& arguments, const Extras& extras = {});

  /// `run libraft` on three nodes of this test's ports, into `out()`.
  [[nodiscard]] Words run_libraft(const Words& more) const;
  /// `run libraft` on servers that are up, into `out()`.
  [[nodiscard]] Words run_against(const std::string& nodes, const Words& more) const;

  /// An empty folder: the tool's current one.
  [[nodiscard]] std::filesystem::path here() const { return directory_ / "here"; }
  [[nodiscard]] std::filesystem::path out() const { return directory_ / "out"; }
  [[nodiscard]] std::filesystem::path state() const { return directory_ / "state"; }
  /// The tool's TMPDIR.
  [[nodiscard]] std::filesystem::path scratch() const { return directory_ / "scratch"; }
  [[nodiscard]] const PortBlock& ports() const { return ports_; }
  [[nodiscard]] std::string port() const { return std::to_string(ports_.base()); }

  /// The record in `out()`; fails the test if it is not there or not whole.
  [[nodiscard]] record::RunRecord read_record() const;

  /// The nodes named so far. Waits until there are `count`, or fails the test.
  static std::vector<NodeNotice> nodes_of(const Process& tool, std::size_t count);

  /// Fails the test if a server of this test's ports is still there after `limit`.
  void expect_no_servers(std::chrono::milliseconds limit) const;
  [[nodiscard]] std::vector<pid_t> servers() const;
  /// Other programs of this test's tool, known by the temporary folder in their arguments.
  [[nodiscard]] std::vector<pid_t> helpers() const;
  /// The data directories of these servers, from their arguments.
  static std::vector<std::filesystem::path> data_directories(const std::vector<pid_t>& servers);

 private:
  std::filesystem::path directory_;
  PortBlock ports_;
  int started_ = 0;
};

/// The same for the tests that need the local default.
class LibraftTest : public ToolTest {
 protected:
  void SetUp() override;
};

/// Starts the stub or fails the test.
stub::StubProcess start_stub(const Words& arguments);

/// `name` with `value`, or the test fails.
std::uint64_t counter(const nlohmann::json& counters, const std::string& name);
std::uint64_t answered(const nlohmann::json& counters, const std::string& status);

}  // namespace raftperf::e2e
