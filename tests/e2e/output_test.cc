// SPDX-License-Identifier: Apache-2.0
//
// What people and programs read on standard output.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "tests/e2e/fixture.h"

namespace raftperf::e2e {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// Characters, not bytes.
std::size_t columns(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

class Output : public ToolTest {
 protected:
  /// One progress line a second, and a summary of 80 columns at the most. Lines that
  /// hold this test's own path are as long as that.
  void expect_readable(const Ended& ended, std::size_t seconds) const {
    static const std::regex kProgress(
        R"( *\d+ s (warm-?up|measurement|drain) +at qps=\d+ latency=(\d+|-) in flight \d+)");
    std::size_t progress = 0;
    for (const std::string& line : lines_of(ended.out)) {
      progress += std::regex_match(line, kProgress) ? 1U : 0U;
      if (line.find(out().string()) == std::string::npos) {
        EXPECT_LE(columns(line), 80U) << line;
      }
      EXPECT_EQ(line.find('\r'), std::string::npos) << line;
      EXPECT_EQ(line.find('\x1b'), std::string::npos) << line;
    }
    EXPECT_GE(progress, seconds) << ended.out;
    EXPECT_LE(progress, seconds + 2) << ended.out;
    for (const char* word : {"rig ", "load ", "scheduled", "p99", "Little", "durability"}) {
      EXPECT_NE(ended.out.find(word), std::string::npos) << word << " in\n" << ended.out;
    }
  }
};

TEST_F(Output, OfARunOnTheSimulator) {
  expect_readable(run({"run", "sim", "--mode", "open", "--rate", "1000", "--warmup", "1s",
                       "--measure", "2500ms", "--out", out()}),
                  3);
}

TEST_F(Output, OfARunWithDropsAndErrors) {
  stub::StubProcess stub =
      start_stub({"--delay", "300ms", "--error-every", "7", "--ack-without-apply-every", "50"});
  expect_readable(run(run_against(to_string(stub.endpoint()),
                                  {"--mode", "open", "--rate", "123.456", "--max-inflight", "20",
                                   "--warmup", "500ms", "--measure", "2500ms", "--workers", "2"})),
                  2);
}

TEST_F(Output, OfARunOnLibraft) {
  if (RAFTPERF_HAS_LIBRAFT == 0) {
    GTEST_SKIP() << "libraft is not built (needs libraft-dev and libuv1-dev)";
  }
  const Ended ended =
      run(run_libraft({"--threads", "4", "--warmup", "500ms", "--measure", "1600ms"}));
  expect_readable(ended, 2);
  EXPECT_NE(ended.out.find("3 nodes"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("leader node0"), std::string::npos) << ended.out;
}

TEST_F(Output, JsonOfARunIsTheRecordAndNothingElse) {
  const Ended ended =
      run({"run", "sim", "--warmup", "0s", "--measure", "1200ms", "--out", out(), "--json"});
  auto printed = nlohmann::json::parse(ended.out, nullptr, false);
  ASSERT_FALSE(printed.is_discarded()) << ended.out;
  EXPECT_EQ(printed["folder"], out().string());
  printed.erase("folder");
  EXPECT_EQ(printed, nlohmann::json::parse(read_file(out() / "run.json")));
  EXPECT_NE(ended.err.find("at qps="), std::string::npos) << ended.err;
}

TEST_F(Output, ResultsGetAFolderOfTheirOwn) {
  run({"run", "sim", "--mode", "open", "--rate", "500", "--warmup", "0s", "--measure", "500ms"});
  run({"run", "sim", "--threads", "7", "--warmup", "0s", "--measure", "200ms"});
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(here() / "results")) {
    names.push_back(entry.path().filename());
    for (const char* file : {"run.json", "run.hlog", "timeline.csv"}) {
      EXPECT_TRUE(std::filesystem::exists(entry.path() / file)) << entry.path() / file;
    }
  }
  std::sort(names.begin(), names.end());
  ASSERT_EQ(names.size(), 2U);
  static const std::regex kName(R"(\d{8}T\d{6}Z-sim-(open-500|closed-7)(\.INVALID)?)");
  for (const std::string& name : names) {
    EXPECT_TRUE(std::regex_match(name, kName)) << name;
  }
}

TEST_F(Output, HdrOutIsAPercentileDistribution) {
  const auto file = here() / "hdr.txt";
  run({"run", "sim", "--mode", "open", "--rate", "1000", "--warmup", "0s", "--measure", "1s",
       "--out", out(), "--hdr-out", file});
  const std::string text = read_file(file);
  EXPECT_NE(text.find("Percentile"), std::string::npos) << text;
  EXPECT_NE(text.find("Total count    =         1000"), std::string::npos) << text;
}

TEST_F(Output, SystemsAsJson) {
  const Ended ended = run({"systems", "--json"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  const auto systems = nlohmann::json::parse(ended.out, nullptr, false);
  ASSERT_TRUE(systems.is_array()) << ended.out;
  const auto libraft = std::find_if(systems.begin(), systems.end(), [](const auto& system) {
    return system.at("name") == "libraft";
  });
  ASSERT_NE(libraft, systems.end());
  for (const char* field : {"version", "licence", "protocol", "durability", "profiles", "built"}) {
    EXPECT_TRUE(libraft->contains(field)) << field;
  }
  EXPECT_EQ(libraft->at("built"), RAFTPERF_HAS_LIBRAFT == 1);
  if (!libraft->at("built").get<bool>()) {
    EXPECT_NE(libraft->at("remedy").get<std::string>().find("libraft-dev"), std::string::npos);
  }
}

TEST_F(Output, SystemsAsText) {
  const Ended ended = run({"systems"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  for (const char* word : {"libraft", "sim", "wire"}) {
    EXPECT_NE(ended.out.find(word), std::string::npos) << ended.out;
  }
}

// Its verdict is on this machine, now; that it comes, and whole, is what is asked here.
TEST_F(Output, SelftestAsJson) {
  const Ended ended = run({"selftest", "--json"});
  EXPECT_TRUE(ended.status == 0 || ended.status == 1) << ended.status;
  const auto checks = nlohmann::json::parse(ended.out, nullptr, false);
  ASSERT_TRUE(checks.is_array()) << ended.out;
  EXPECT_GT(checks.size(), 5U);
  bool failed = false;
  for (const auto& check : checks) {
    for (const char* field : {"name", "expected", "measured", "outcome"}) {
      EXPECT_TRUE(check.contains(field)) << field;
    }
    failed = failed || check.at("outcome") == "FAILED";
  }
  EXPECT_EQ(failed, ended.status == 1);
}

TEST_F(Output, HelpAndVersionAreNoMistakes) {
  for (const Words& words : {Words{"--help"}, Words{"--version"}, Words{"run", "--help"},
                             Words{"cluster", "--help"}, Words{"cluster", "up", "--help"}}) {
    const Ended ended = run(words);
    EXPECT_EQ(ended.status, 0) << words.front();
    EXPECT_NE(ended.out, "");
    EXPECT_EQ(ended.err, "");
  }
}

}  // namespace
}  // namespace raftperf::e2e
