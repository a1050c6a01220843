// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "stub/arrival_log.h"
#include "stub/counters.h"

namespace raftperf::stub {
namespace {

using namespace std::chrono_literals;

class LogsTest : public testing::Test {
 protected:
  LogsTest() {
    std::string name = std::filesystem::temp_directory_path() / "raftperf-logs-XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  ~LogsTest() override { std::filesystem::remove_all(directory_); }

  std::filesystem::path directory_;
};

TEST_F(LogsTest, ArrivalsAreReadBack) {
  const std::string path = directory_ / "arrivals";
  auto log = ArrivalLog::create(path);
  ASSERT_TRUE(log.ok()) << log.error();
  EXPECT_TRUE(read_arrival_log(path)->empty());
  log->record(TimePoint{5ns}, 7);
  log->record(TimePoint{6ns}, ~std::uint64_t{0});
  ASSERT_TRUE(log->flush().ok());
  EXPECT_EQ(*read_arrival_log(path), (std::vector<Arrival>{{5, 7}, {6, ~std::uint64_t{0}}}));
}

TEST_F(LogsTest, AFullBufferIsWrittenOut) {
  const std::string path = directory_ / "arrivals";
  auto log = ArrivalLog::create(path);
  ASSERT_TRUE(log.ok()) << log.error();
  constexpr std::uint64_t kCount = (4U << 20U) + 3;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    log->record(TimePoint{std::chrono::nanoseconds(i)}, i);
  }
  ASSERT_TRUE(log->flush().ok());
  const auto arrivals = read_arrival_log(path);
  ASSERT_EQ(arrivals->size(), kCount);
  EXPECT_EQ(arrivals->back(), (Arrival{kCount - 1, kCount - 1}));
}

TEST_F(LogsTest, AnArrivalLogThatIsNoneIsRefused) {
  const std::string path = directory_ / "arrivals";
  EXPECT_FALSE(read_arrival_log(path).ok());
  std::ofstream(path) << "something else entirely";
  EXPECT_FALSE(read_arrival_log(path).ok());
  ASSERT_TRUE(ArrivalLog::create(path).ok());
  std::ofstream(path, std::ios::app) << "half";
  EXPECT_FALSE(read_arrival_log(path).ok());
}

TEST_F(LogsTest, FailuresAreToldNotSwallowed) {
  EXPECT_FALSE(ArrivalLog::create(directory_ / "none" / "arrivals").ok());
  EXPECT_FALSE(ArrivalLog::create("/dev/full").ok());
  EXPECT_FALSE(write_counters({}, directory_ / "none" / "counters").ok());
  const auto full = write_counters({}, "/dev/full");
  ASSERT_FALSE(full.ok());
  EXPECT_NE(full.error().find("/dev/full"), std::string::npos);
}

TEST_F(LogsTest, CountersAreReplacedAsAWhole) {
  const std::string path = directory_ / "counters";
  ASSERT_TRUE(write_counters({.received = 1}, path).ok());
  Counters counters{.received = ~std::uint64_t{0}};
  counters.answered[1] = 5;
  ASSERT_TRUE(write_counters(counters, path).ok());
  const auto json = nlohmann::json::parse(std::ifstream(path));
  EXPECT_EQ(json.at("received"), ~std::uint64_t{0});
  EXPECT_EQ(json.at("answered").at("mismatch"), 5);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 1);
}

}  // namespace
}  // namespace raftperf::stub
