// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace raftperf {
namespace {

TEST(EditDistance, CountsSingleCharacters) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("rate", "rate"), 0U);
  EXPECT_EQ(edit_distance("titel", "title"), 1U);
  EXPECT_EQ(edit_distance("ab", "ba"), 1U);
}

TEST(Nearest, FindsTheWordThatWasMeant) {
  const std::vector<std::string> known{"libraft", "openraft", "braft"};
  EXPECT_EQ(nearest("libarft", known), "libraft");
  EXPECT_EQ(nearest("opnraft", known), "openraft");
  EXPECT_EQ(did_you_mean("brft", known), "; did you mean 'braft'?");
}

TEST(Nearest, SaysNothingRatherThanGuess) {
  const std::vector<std::string> known{"libraft", "openraft"};
  EXPECT_EQ(nearest("zookeeper", known), "");
  EXPECT_EQ(did_you_mean("", known), "");
  EXPECT_EQ(nearest("anything", std::vector<std::string>{}), "");
}

}  // namespace
}  // namespace raftperf
