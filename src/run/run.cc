// SPDX-License-Identifier: Apache-2.0
#include "run/run.h"

#include <fmt/format.h>

#include <memory>

namespace raftperf::run {
namespace {

// Time for every worker to learn the common start before it comes.
constexpr load::Duration kStartLead = std::chrono::milliseconds{20};

/// Everything of a plan that is computed once and shared by its workers.
struct Prepared {
  std::optional<load::ArrivalSchedule> schedule;
  load::Window window;
};

Result<Prepared> prepare(const RunPlan& plan) {
  Prepared prepared;
  if (plan.mode == load::LoadMode::kClosed) {
    prepared.window = {.start = plan.schedule.warmup,
                       .end = plan.schedule.warmup + plan.schedule.measure};
    return prepared;
  }
  auto schedule = load::ArrivalSchedule::create(plan.schedule);
  if (!schedule) {
    return Error{schedule.error()};
  }
  prepared.schedule = *schedule;
  prepared.window = prepared.schedule->window();
  return prepared;
}

WorkerThreadOptions options_of(const RunPlan& plan, load::Window window, std::uint32_t worker) {
  WorkerThreadOptions options;
  const std::uint32_t slots =
      plan.outstanding / plan.workers + (worker < plan.outstanding % plan.workers ? 1 : 0);
  options.worker = {.mode = plan.mode,
                    .stripe = {.worker = worker, .workers = plan.workers},
                    .slots = slots,
                    .window = window,
                    .workload = plan.workload,
                    .timeout = plan.timeout,
                    .drain = plan.drain,
                    .no_leader = plan.no_leader,
                    .send_stamp = plan.send_stamp,
                    .nodes = static_cast<std::uint32_t>(plan.driver.nodes.size()),
                    .leader = plan.leader};
  options.pace = {.pace = plan.pace, .mode = plan.mode, .core_of_its_own = plan.core_of_its_own};
  options.driver = plan.driver;
  options.driver.operation = plan.workload.kind;
  options.driver.value_size = plan.workload.value_size;
  options.driver.in_flight_max = slots;
  if (!plan.cpus.empty()) {
    options.cpu = plan.cpus[worker % plan.cpus.size()];
  }
  return options;
}

void add(drivers::TransportStats& to, const drivers::TransportStats& from) noexcept {
  to.connections_asked += from.connections_asked;
  to.connections_live += from.connections_live;
  to.frames_sent += from.frames_sent;
  to.sends += from.sends;
  to.frames_received += from.frames_received;
  to.receives += from.receives;
  to.protocol_errors += from.protocol_errors;
  if (to.trouble.empty()) {
    to.trouble = from.trouble;
  }
}

using Threads = std::vector<std::unique_ptr<WorkerThread>>;

Result<void> wait_connected(Threads& threads) {
  Result<void> first_error;
  for (auto& thread : threads) {
    if (auto connected = thread->connected(); !connected && first_error.ok()) {
      first_error = std::move(connected);
    }
  }
  return first_error;
}

/// With fewer connections than asked a result would carry a label that is not true. A
/// driver reports what it has; to refuse is here, so that it is the same for all.
Result<void> require_all_connections(const Threads& threads) {
  drivers::TransportStats total;
  for (const auto& thread : threads) {
    add(total, thread->report().transport);
  }
  if (total.connections_live >= total.connections_asked) {
    return {};
  }
  return Error{fmt::format("{} of {} connections could be made{}{}", total.connections_live,
                           total.connections_asked, total.trouble.empty() ? "" : ": ",
                           total.trouble)};
}

RunResult collect(Threads& threads, load::Summary summary) {
  RunResult result{.summary = std::move(summary)};
  for (const auto& thread : threads) {
    const WorkerThread::Report& report = thread->report();
    add(result.transport, report.transport);
    result.connections_at_start += report.connections_at_start;
    result.request_bytes = report.request_bytes;
    result.pace = report.pace;
    result.worker_cpu_time.push_back(report.cpu_time);
  }
  return result;
}

}  // namespace

Result<void> check(const RunPlan& plan) {
  const auto prepared = prepare(plan);
  if (!prepared) {
    return Error{prepared.error()};
  }
  if (plan.outstanding < plan.workers) {
    return Error{fmt::format("{} {} cannot be shared by {} workers", plan.outstanding,
                             plan.mode == load::LoadMode::kClosed ? "threads" : "slots in flight",
                             plan.workers)};
  }
  if (plan.mode == load::LoadMode::kOpen && plan.schedule.burst > plan.outstanding / plan.workers) {
    return Error{fmt::format(
        "a burst of {} is above the in-flight cap of {} per worker: operations would be dropped "
        "by arithmetic",
        plan.schedule.burst, plan.outstanding / plan.workers)};
  }
  if (plan.outstanding / plan.workers >= load::OperationId::kSlotsMax) {
    return Error{fmt::format("at most {} in flight per worker", load::OperationId::kSlotsMax - 1)};
  }
  return {};
}

Result<RunResult> execute(const RunPlan& plan, const drivers::DriverFactory& factory,
                          const Signals& signals, const ObserverCallbacks& callbacks) {
  if (const auto checked = check(plan); !checked) {
    return Error{checked.error()};
  }
  const auto prepared = prepare(plan);
  const load::ArrivalSchedule* schedule = prepared->schedule ? &*prepared->schedule : nullptr;
  Threads threads;
  std::vector<WorkerThread*> workers;
  for (std::uint32_t worker = 0; worker < plan.workers; ++worker) {
    threads.push_back(std::make_unique<WorkerThread>(options_of(plan, prepared->window, worker),
                                                     schedule, factory, signals));
    workers.push_back(threads.back().get());
  }
  if (const auto connected = wait_connected(threads); !connected) {
    return Error{connected.error()};
  }
  if (const auto complete = require_all_connections(threads); !complete) {
    return Error{complete.error()};
  }
  MonotonicClock clock;
  const load::TimePoint start = clock.now() + kStartLead;
  const auto start_utc = std::chrono::system_clock::now() + kStartLead;
  Observer observer(workers, plan.mode, prepared->window, start, signals, callbacks);
  for (WorkerThread* worker : workers) {
    worker->start(start);
  }
  for (WorkerThread* worker : workers) {
    worker->join();
  }
  RunResult result = collect(threads, observer.finish());
  result.summary.burst = plan.mode == load::LoadMode::kOpen ? plan.schedule.burst : 1;
  result.summary.interrupted = signals.stopping();
  if (plan.mode == load::LoadMode::kOpen) {
    result.summary.offered = plan.schedule.rate;
  }
  result.start = start;
  result.window_start_utc =
      start_utc +
      std::chrono::duration_cast<std::chrono::system_clock::duration>(prepared->window.start);
  return result;
}

}  // namespace raftperf::run
