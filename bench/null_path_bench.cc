// SPDX-License-Identifier: Apache-2.0
//
// What the rig itself costs an operation: worker, schedule, table, books and all
// histograms, against a driver that does nothing.
#include <benchmark/benchmark.h>

#include "bench/null_driver.h"
#include "run/monotonic_clock.h"
#include "run/turn.h"

namespace raftperf::bench {
namespace {

constexpr std::uint64_t kOperations = 2'000'000;

/// An open loop whose schedule is always behind: as many operations as a turn can take.
void open_loop(benchmark::State& state) {
  const auto stamp = static_cast<load::SendStamp>(state.range(0));
  run::MonotonicClock clock;
  for (auto _ : state) {
    state.PauseTiming();
    const auto schedule = *load::ArrivalSchedule::create(
        {.rate = {.count = 1'000'000'000ULL * load::MicroHertz::kPerHertz},
         .burst = static_cast<std::uint64_t>(state.range(1)),
         .measure = std::chrono::nanoseconds{kOperations}});
    load::Worker worker({.mode = load::LoadMode::kOpen,
                         .slots = 1024,
                         .window = schedule.window(),
                         .send_stamp = stamp,
                         .leader = 0},
                        &schedule, clock);
    load::CompletionSink sink(worker);
    NullDriver driver;
    (void)driver.connect(sink);
    state.ResumeTiming();
    worker.start(clock.now());
    while (!worker.finished()) {
      run::turn(worker, driver, load::Duration{0});
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kOperations));
}
BENCHMARK(open_loop)
    ->ArgNames({"stamp_per_batch", "burst"})
    ->Args({0, 1})
    ->Args({1, 1})
    ->Args({0, 256})
    ->Args({1, 256})
    ->Unit(benchmark::kMillisecond);

/// What the histograms alone cost: three records an operation.
void histogram_record(benchmark::State& state) {
  load::Histogram histogram(std::chrono::seconds{60});
  std::int64_t value = 1;
  for (auto _ : state) {
    histogram.record(load::Duration{value});
    value = (value * 7 + 13) & 0xFFFFF;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(histogram_record);

void histogram_record_by_library(benchmark::State& state) {
  load::Histogram histogram(std::chrono::seconds{60});
  std::int64_t value = 1;
  for (auto _ : state) {
    hdr_record_value(histogram.hdr(), value);
    value = (value * 7 + 13) & 0xFFFFF;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(histogram_record_by_library);

}  // namespace
}  // namespace raftperf::bench
