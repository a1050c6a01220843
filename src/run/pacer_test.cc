// SPDX-License-Identifier: Apache-2.0
#include "run/pacer.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "base/file_descriptor.h"
#include "run/monotonic_clock.h"

namespace raftperf::run {
namespace {

using load::Duration;

/// Says how often it was asked: a wait in the kernel asks twice.
class CountingClock final : public load::TimeSource {
 public:
  load::TimePoint now() noexcept override {
    ++reads;
    return clock_.now();
  }
  int reads = 0;

 private:
  MonotonicClock clock_;
};

constexpr Pace kAllPaces[] = {Pace::kAuto, Pace::kSpin, Pace::kPark, Pace::kBlock};

TEST(Pacer, DoesNotWaitForWhatIsPast) {
  const FileDescriptor silent(::eventfd(0, EFD_CLOEXEC));
  for (const Pace pace : kAllPaces) {
    for (const bool own_core : {false, true}) {
      const Pacer pacer({.pace = pace, .core_of_its_own = own_core});
      CountingClock clock;
      const auto past = MonotonicClock().now() - std::chrono::seconds{1};
      EXPECT_EQ(pacer.wait(past, silent.get(), clock), Duration{0});
      EXPECT_LE(clock.reads, 1) << to_string(pace) << ": it went to the kernel";
    }
  }
}

TEST(Pacer, SpinNeverWaits) {
  const FileDescriptor silent(::eventfd(0, EFD_CLOEXEC));
  const Pacer pacer({.pace = Pace::kSpin});
  CountingClock clock;
  EXPECT_EQ(pacer.wait(load::kNever, silent.get(), clock), Duration{0});
  EXPECT_EQ(clock.reads, 0);
}

TEST(Pacer, BlockEndsWhenTheDescriptorIsReadable) {
  const FileDescriptor readable(::eventfd(1, EFD_CLOEXEC));
  const Pacer pacer({.pace = Pace::kBlock});
  MonotonicClock clock;
  const auto start = clock.now();
  // A wait to its end takes 10 ms: a thousand of them 10 s.
  for (int i = 0; i < 1000; ++i) {
    (void)pacer.wait(load::kNever, readable.get(), clock);
  }
  EXPECT_LT(clock.now() - start, std::chrono::seconds{9});
}

TEST(Pacer, BlockTellsHowLongItCouldHaveBeenWoken) {
  const FileDescriptor silent(::eventfd(0, EFD_CLOEXEC));
  const Pacer pacer({.pace = Pace::kBlock});
  MonotonicClock clock;
  const Duration asked = std::chrono::milliseconds{2};
  const Duration waited = pacer.wait(clock.now() + asked, silent.get(), clock);
  EXPECT_LE(waited, asked) << "what was overslept is not in it";
  const Duration longest = pacer.wait(load::kNever, silent.get(), clock);
  EXPECT_GE(longest, std::chrono::milliseconds{9});
  EXPECT_LE(longest, std::chrono::milliseconds{10}) << "a request to stop must be noticed";
}

TEST(Pacer, LeavesEdgeTriggeredEventsToTheDriver) {
  const FileDescriptor source(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const FileDescriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {}};
  ASSERT_EQ(::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, source.get(), &event), 0);
  for (const Pace pace : kAllPaces) {
    const Pacer pacer({.pace = pace});
    MonotonicClock clock;
    ASSERT_EQ(::eventfd_write(source.get(), 1), 0);
    for (int i = 0; i < 3; ++i) {
      (void)pacer.wait(clock.now() + std::chrono::milliseconds{1}, epoll.get(), clock);
    }
    EXPECT_EQ(::epoll_wait(epoll.get(), &event, 1, 0), 1) << to_string(pace);
    EXPECT_EQ(::epoll_wait(epoll.get(), &event, 1, 0), 0) << "an edge is told once";
  }
}

TEST(Pacer, WithoutADescriptorPollsAgainSoon) {
  for (const Pace pace : kAllPaces) {
    const Pacer pacer({.pace = pace});
    MonotonicClock clock;
    EXPECT_EQ(pacer.wait(load::kNever, -1, clock), Duration{0}) << "it cannot be woken";
  }
}

}  // namespace
}  // namespace raftperf::run
