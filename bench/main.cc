// SPDX-License-Identifier: Apache-2.0
//
// raftperf-microbench [null | wire | profile | memory] [--benchmark_...]: what the rig
// costs. Without a word: null and wire. `profile HOST:PORT` is one row of
// wire against a raftperf-stub that runs already, for a profiler.
#include <benchmark/benchmark.h>

#include <string>

#include "bench/wire_bench.h"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "memory") {
    return raftperf::bench::print_memory_table() ? 0 : 1;
  }
  if (what == "profile") {
    return raftperf::bench::run_profile_row(argc > 2 ? argv[2] : "") ? 0 : 1;
  }
  if (what != "wire") {
    benchmark::RunSpecifiedBenchmarks();
  }
  return what == "null" || raftperf::bench::print_wire_table() ? 0 : 1;
}
