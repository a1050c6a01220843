// SPDX-License-Identifier: Apache-2.0
#include "run/floor.h"

#include <algorithm>

#include "stub/stub_process.h"

namespace raftperf::run {
namespace {

using namespace std::chrono_literals;

// More are outstanding in an open loop only when a system is slow, which a stub is not.
constexpr std::uint32_t kOutstandingMax = 1000;

std::optional<load::Summary> closed_loop(RunPlan plan, std::uint32_t outstanding,
                                         const drivers::DriverFactory& factory) {
  plan.mode = load::LoadMode::kClosed;
  plan.outstanding = outstanding;
  plan.workers = 1;
  plan.schedule.warmup = 50ms;
  plan.schedule.measure = 250ms;
  plan.leader = 0;
  const Signals signals;
  auto result = execute(plan, factory, signals, {});
  return result ? std::optional(std::move(result->summary)) : std::nullopt;
}

}  // namespace

record::FloorRecord measure_floor(const RunPlan& plan, const drivers::DriverFactory& factory,
                                  const std::filesystem::path& stub_program) {
  record::FloorRecord floor;
  auto stub = stub::StubProcess::start(stub_program, {});
  if (!stub) {
    return floor;
  }
  RunPlan null_plan = plan;
  null_plan.driver.nodes = {stub->endpoint()};
  if (const auto single = closed_loop(null_plan, 1, factory)) {
    if (const auto p50 = single->histograms.service.at(load::kP50)) {
      floor.service_p50_ns = p50->count();
    }
  }
  const std::uint32_t outstanding = std::min(plan.outstanding, kOutstandingMax);
  if (const auto full = closed_loop(null_plan, outstanding, factory)) {
    floor.rate_max_per_s = full->achieved_per_s();
  }
  return floor;
}

}  // namespace raftperf::run
