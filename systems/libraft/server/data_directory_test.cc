// SPDX-License-Identifier: Apache-2.0
#include "systems/libraft/server/data_directory.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace raftperf::libraft {
namespace {

class DataDirectoryTest : public ::testing::Test {
 protected:
  DataDirectoryTest() {
    std::string pattern = ::testing::TempDir() + "raftperf-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    root = pattern;
  }
  ~DataDirectoryTest() override { std::filesystem::remove_all(root); }

  std::string root;
};

TEST_F(DataDirectoryTest, IsMadeAndKnowsWhetherRaftHasWrittenThere) {
  const std::string path = root + "/a/b";
  auto opened = DataDirectory::open(path, 0);
  ASSERT_TRUE(opened.ok());
  EXPECT_TRUE(std::filesystem::is_directory(path));
  EXPECT_FALSE(opened->has_raft_data());
  std::ofstream(path + "/metadata2") << "x";
  EXPECT_TRUE(opened->has_raft_data());
}

TEST_F(DataDirectoryTest, IsLockedWhileItIsOpen) {
  {
    auto first = DataDirectory::open(root, 0);
    ASSERT_TRUE(first.ok());
    auto second = DataDirectory::open(root, 0);
    ASSERT_FALSE(second.ok());
    EXPECT_NE(second.error().find("in use"), std::string::npos);
    EXPECT_NE(second.error().find(root), std::string::npos);
  }
  EXPECT_TRUE(DataDirectory::open(root, 0).ok());
}

TEST_F(DataDirectoryTest, StaysWithItsNode) {
  ASSERT_TRUE(DataDirectory::open(root, 2).ok());
  ASSERT_TRUE(DataDirectory::open(root, 2).ok());
  const auto other = DataDirectory::open(root, 1);
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().find("node 2"), std::string::npos);
}

TEST_F(DataDirectoryTest, WhatCannotBeOneIsAnError) {
  std::ofstream(root + "/file") << "x";
  const auto opened = DataDirectory::open(root + "/file", 0);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().find("--dir"), std::string::npos);
}

TEST_F(DataDirectoryTest, SaysItsDurability) {
  if (!std::filesystem::is_directory("/dev/shm")) {
    GTEST_SKIP() << "no /dev/shm here";
  }
  std::string pattern = "/dev/shm/raftperf-XXXXXX";
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  {
    const auto opened = DataDirectory::open(pattern, 0);
    ASSERT_TRUE(opened.ok());
    EXPECT_EQ(std::string_view(opened->durability()), "memory");
  }
  std::filesystem::remove_all(pattern);
  const auto proc = DataDirectory::open("/proc", 0);
  EXPECT_FALSE(proc.ok());
}

}  // namespace
}  // namespace raftperf::libraft
