// SPDX-License-Identifier: Apache-2.0
#include "stub/faults.h"

#include <gtest/gtest.h>

#include <map>

namespace raftperf::stub {
namespace {

using namespace std::chrono_literals;
using wire::Kind;

std::map<Fault, int> count(Faults faults, int operations, Kind kind = Kind::kAppend) {
  std::map<Fault, int> counts;
  for (int i = 0; i < operations; ++i) {
    ++counts[faults.next(kind, 0s)];
  }
  return counts;
}

TEST(Faults, WithoutAPlanNothingGoesWrong) {
  EXPECT_EQ(count(Faults{{}}, 100), (std::map<Fault, int>{{Fault::kNone, 100}}));
}

TEST(Faults, EveryNHitsMultiplesOfN) {
  Faults faults({.drop_every = 3});
  for (int number = 1; number <= 9; ++number) {
    EXPECT_EQ(faults.next(Kind::kGet, 0s), number % 3 == 0 ? Fault::kDrop : Fault::kNone);
  }
  EXPECT_EQ(count(Faults({.busy_every = 1}), 7), (std::map<Fault, int>{{Fault::kBusy, 7}}));
}

TEST(Faults, WhereTwoMeetTheFirstWins) {
  EXPECT_EQ(count(Faults({.drop_every = 2, .error_every = 3}), 12),
            (std::map<Fault, int>{{Fault::kDrop, 6}, {Fault::kError, 2}, {Fault::kNone, 4}}));
  EXPECT_EQ(count(Faults({.drop_every = 7,
                          .hold_every = 5,
                          .apply_then_close_every = 4,
                          .ack_without_apply_every = 3,
                          .error_every = 2,
                          .busy_every = 1}),
                  420),
            (std::map<Fault, int>{{Fault::kDrop, 60},
                                  {Fault::kHold, 72},
                                  {Fault::kApplyThenClose, 72},
                                  {Fault::kAckWithoutApply, 72},
                                  {Fault::kError, 48},
                                  {Fault::kBusy, 96}}));
}

TEST(Faults, MismatchesCountCompareAndSetsOnly) {
  Faults faults({.mismatch_every = 2});
  EXPECT_EQ(faults.next(Kind::kCompareAndSet, 0s), Fault::kNone);
  EXPECT_EQ(faults.next(Kind::kAppend, 0s), Fault::kNone);
  EXPECT_EQ(faults.next(Kind::kGet, 0s), Fault::kNone);
  EXPECT_EQ(faults.next(Kind::kCompareAndSet, 0s), Fault::kMismatch);
}

TEST(Faults, LeadershipIsDeniedAlwaysOrInWindows) {
  Faults always({.drop_every = 1, .never_leader = true});
  EXPECT_EQ(always.next(Kind::kAppend, 0s), Fault::kNotLeader);
  EXPECT_TRUE(always.denies_leadership(-1ns));

  Faults windows({.not_leader_windows = {{.at = 1s, .length = 2s}, {.at = 10s, .length = 1ns}}});
  EXPECT_EQ(windows.next(Kind::kAppend, 999'999'999ns), Fault::kNone);
  EXPECT_EQ(windows.next(Kind::kAppend, 1s), Fault::kNotLeader);
  EXPECT_EQ(windows.next(Kind::kAppend, 2'999'999'999ns), Fault::kNotLeader);
  EXPECT_EQ(windows.next(Kind::kAppend, 3s), Fault::kNone);
  EXPECT_EQ(windows.next(Kind::kAppend, 10s), Fault::kNotLeader);
  EXPECT_FALSE(windows.denies_leadership(-1ns));
}

}  // namespace
}  // namespace raftperf::stub
