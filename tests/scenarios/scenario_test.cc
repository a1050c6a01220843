// SPDX-License-Identifier: Apache-2.0
//
// Runs every scenario file. To rewrite the expected output from what the rig prints
// now: RAFTPERF_REWRITE_SCENARIOS=1 build/tests/scenario_test. Only commit such a
// change if you understand what caused it.
#include "tests/scenarios/scenario.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace raftperf::tests {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class ScenarioFile : public testing::Test {
 public:
  explicit ScenarioFile(std::filesystem::path path) : path_(std::move(path)) {}

  void TestBody() override {
    auto scenarios = read_scenarios(read_file(path_));
    ASSERT_TRUE(scenarios.ok()) << scenarios.error();
    ASSERT_FALSE(scenarios->empty());
    std::string rewritten;
    for (const Scenario& scenario : *scenarios) {
      const auto printed = run_scenario(scenario);
      ASSERT_TRUE(printed.ok()) << scenario.text << printed.error();
      EXPECT_EQ(*printed, scenario.expected) << scenario.text;
      rewritten += scenario.text + "----\n" + *printed + "\n";
    }
    if (std::getenv("RAFTPERF_REWRITE_SCENARIOS") != nullptr) {
      rewritten.pop_back();
      std::ofstream(path_) << rewritten;
    }
  }

 private:
  std::filesystem::path path_;
};

const int kRegistered = [] {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(RAFTPERF_SCENARIOS)) {
    if (entry.path().extension() != ".scenario") {
      continue;
    }
    const auto path = entry.path();
    testing::RegisterTest("Scenario", path.stem().c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [path]() -> testing::Test* { return new ScenarioFile(path); });
    ++count;
  }
  return count;
}();

TEST(Scenarios, AreFound) { EXPECT_GT(kRegistered, 10); }

}  // namespace
}  // namespace raftperf::tests
