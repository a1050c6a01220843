// SPDX-License-Identifier: Apache-2.0
#include "drivers/registry.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "load/completion_sink.h"
#include "load/worker.h"

namespace raftperf::drivers {
namespace {

const std::filesystem::path kPlugins = RAFTPERF_TEST_PLUGINS;

class StandingClock final : public load::TimeSource {
 public:
  load::TimePoint now() noexcept override { return load::TimePoint{std::chrono::seconds{1}}; }
};

void expect_error(const std::string& protocol, const std::vector<std::string>& parts,
                  const std::filesystem::path& directory = kPlugins) {
  const auto found = find_driver(protocol, directory);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().find('\n'), std::string::npos) << found.error();
  for (const std::string& part : parts) {
    EXPECT_NE(found.error().find(part), std::string::npos) << found.error();
  }
}

TEST(Registry, FindsWhatIsBuiltInWithoutAnyPlugin) {
  for (const std::string protocol : {"sim", "wire"}) {
    const auto found = find_driver(protocol, "/nonexistent");
    ASSERT_TRUE(found.ok()) << found.error();
    EXPECT_EQ((*found)->protocol, protocol);
  }
}

TEST(Registry, LoadsAPluginThatCompletesOperations) {
  const auto found = find_driver("good", kPlugins);
  ASSERT_TRUE(found.ok()) << found.error();
  auto driver = (*found)->create({});
  ASSERT_TRUE(driver.ok()) << driver.error();
  StandingClock clock;
  load::Worker worker({.mode = load::LoadMode::kClosed,
                       .slots = 1,
                       .window = {.start = {}, .end = std::chrono::hours{1}},
                       .leader = 0},
                      nullptr, clock);
  load::CompletionSink sink(worker);
  ASSERT_TRUE((*driver)->connect(sink).ok());
  worker.start(clock.now());
  worker.begin_turn(clock.now(), load::Duration{0});
  const auto operations = worker.due(clock.now());
  ASSERT_EQ(operations.size(), 1U);
  worker.accepted((*driver)->submit(operations), clock.now());
  (*driver)->poll();
  EXPECT_EQ(worker.facts().acknowledged, 1U);
}

TEST(Registry, ListsThePluginsThatArePresent) {
  EXPECT_EQ(known_protocols(kPlugins), (std::vector<std::string>{"empty", "failing", "good", "old",
                                                                 "sim", "wire", "without"}));
  EXPECT_EQ(known_protocols("/nonexistent"), (std::vector<std::string>{"sim", "wire"}));
}

TEST(Registry, RefusesAPluginOfAnotherInterface) {
  expect_error("old", {"raftperf-driver-old.so", "build it again"});
}

TEST(Registry, RefusesALibraryWithoutTheSymbol) {
  expect_error("without", {"raftperf-driver-without.so", kPluginSymbol});
}

TEST(Registry, RefusesAPluginWithoutADriver) {
  expect_error("empty", {"raftperf-driver-empty.so", "no driver"});
}

TEST(Registry, PassesOnWhyAPluginMakesNoDriver) {
  const auto found = find_driver("failing", kPlugins);
  ASSERT_TRUE(found.ok()) << found.error();
  const auto driver = (*found)->create({});
  ASSERT_FALSE(driver.ok());
  EXPECT_EQ(driver.error(), "no JVM on this machine");
}

TEST(Registry, RefusesWhatIsNoLibrary) {
  std::string name = std::filesystem::temp_directory_path() / "raftperf-registry-XXXXXX";
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const std::filesystem::path directory = name;
  std::ofstream(directory / "raftperf-driver-text.so") << "not a library\n";
  expect_error("text", {"cannot be loaded", "raftperf-driver-text.so"}, directory);
  std::filesystem::remove_all(directory);
}

TEST(Registry, NamesTheNearestProtocol) {
  expect_error("wier", {"'wier'", "did you mean 'wire'?"});
  expect_error("goood", {"did you mean 'good'?"});
  expect_error("", {"no driver"});
  expect_error("../good", {"no driver"});
}

}  // namespace
}  // namespace raftperf::drivers
