// SPDX-License-Identifier: Apache-2.0
#include "run/pacer.h"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstring>

namespace raftperf::run {
namespace {

using load::Duration;
using load::TimePoint;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr Duration kParkStep = microseconds{50};
constexpr Duration kParkAbove = microseconds{150};
// A wake-up from the kernel costs up to some 50 us (docs/MEASUREMENT.md, "Pace").
constexpr Duration kBlockMargin = microseconds{50};
constexpr Duration kSpinBelow = microseconds{100};
// So that a request to stop and word of a new leader are noticed.
constexpr Duration kBlockMax = milliseconds{10};

timespec to_timespec(Duration duration) noexcept {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
  return {.tv_sec = seconds.count(), .tv_nsec = (duration - seconds).count()};
}

}  // namespace

std::string_view to_string(Pace pace) noexcept {
  switch (pace) {
    case Pace::kAuto:
      return "auto";
    case Pace::kSpin:
      return "spin";
    case Pace::kPark:
      return "park";
    case Pace::kBlock:
      return "block";
  }
  return "?";
}

Pacer::Pacer(const PaceOptions& options) noexcept : pace_(options.pace) {
  switch (options.pace) {
    case Pace::kSpin:
    case Pace::kPark:
      break;
    case Pace::kBlock:
      margin_ = options.core_of_its_own ? kBlockMargin : Duration{0};
      break;
    case Pace::kAuto:
      if (options.core_of_its_own) {
        // A closed loop's next instant is an answer: waiting for it in the kernel would
        // add the wake-up to every service time.
        pace_ = options.mode == load::LoadMode::kClosed ? Pace::kSpin : Pace::kBlock;
        margin_ = kBlockMargin;
        spin_below_ = kSpinBelow;
      } else {
        pace_ = Pace::kBlock;
      }
      break;
  }
  // A spinning thread of real-time priority would keep everything else off its core.
  realtime_ = pace_ == Pace::kBlock && margin_ == Duration{0};
}

std::string Pacer::prepare_thread() const {
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  std::string text = fmt::format("{}, margin {} us", to_string(pace_),
                                 std::chrono::duration_cast<microseconds>(margin_).count());
  if (spin_below_ > Duration{0}) {
    text += fmt::format(", spinning below {} us",
                        std::chrono::duration_cast<microseconds>(spin_below_).count());
  }
  if (realtime_) {
    const sched_param priority{.sched_priority = 1};
    const int code = ::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &priority);
    text += code == 0 ? ", SCHED_FIFO 1"
                      : fmt::format(", SCHED_FIFO not permitted ({})", std::strerror(code));
  }
  return text;
}

Duration Pacer::wait(TimePoint next, int descriptor, load::TimeSource& clock) const noexcept {
  if (pace_ == Pace::kSpin) {
    return Duration{0};
  }
  const TimePoint now = clock.now();
  const Duration gap = next - now;
  if (pace_ == Pace::kPark || descriptor < 0) {
    if (gap > kParkAbove) {
      const timespec step = to_timespec(kParkStep);
      ::nanosleep(&step, nullptr);
    }
    return Duration{0};
  }
  if (gap <= std::max(spin_below_, margin_)) {
    return Duration{0};
  }
  return block(next, descriptor, now, clock);
}

Duration Pacer::block(TimePoint next, int descriptor, TimePoint now,
                      load::TimeSource& clock) const noexcept {
  const Duration asked = std::min(next - now - margin_, kBlockMax);
  const timespec timeout = to_timespec(asked);
  // Polls the driver's epoll instance instead of waiting on it: that would take an
  // edge-triggered event away from the driver.
  pollfd waiting{.fd = descriptor, .events = POLLIN, .revents = 0};
  ::ppoll(&waiting, 1, &timeout, nullptr);
  return std::min(clock.now() - now, asked);
}

}  // namespace raftperf::run
