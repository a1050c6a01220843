// SPDX-License-Identifier: Apache-2.0
#include "run/worker_thread.h"

#include <pthread.h>
#include <sched.h>

#include <ctime>

#include "run/turn.h"

namespace raftperf::run {
namespace {

load::Duration thread_cpu_time() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

void pin(int cpu) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set);
}

}  // namespace

WorkerThread::WorkerThread(const WorkerThreadOptions& options,
                           const load::ArrivalSchedule* schedule,
                           const drivers::DriverFactory& factory, const Signals& signals)
    : options_(options),
      worker_(std::make_unique<load::Worker>(options.worker, schedule, clock_)),
      signals_(signals),
      thread_([this, &factory] { run(factory); }) {}

WorkerThread::~WorkerThread() {
  cancel();
  join();
}

Result<void> WorkerThread::connected() { return connected_.get_future().get(); }

void WorkerThread::start(load::TimePoint start) {
  start_given_ = true;
  start_.set_value(start);
}

void WorkerThread::cancel() {
  if (!start_given_) {
    start_given_ = true;
    start_.set_value(std::nullopt);
  }
}

void WorkerThread::join() {
  if (thread_.joinable()) {
    thread_.join();
  }
}

void WorkerThread::run(const drivers::DriverFactory& factory) {
  auto driver = factory.create(options_.driver);
  if (!driver) {
    connected_.set_value(Error{driver.error()});
    return;
  }
  load::CompletionSink sink(*worker_);
  auto connected = (*driver)->connect(sink);
  const bool ok = connected.ok();
  report_.transport = (*driver)->transport();
  report_.connections_at_start = report_.transport.connections_live;
  load::Operation sample;
  sample.kind = options_.worker.workload.kind;
  sample.value_size = options_.worker.workload.value_size;
  report_.request_bytes = (*driver)->request_bytes(sample);
  connected_.set_value(std::move(connected));
  if (!ok) {
    return;
  }
  const auto start = start_.get_future().get();
  if (!start) {
    return;
  }
  if (options_.cpu) {
    pin(*options_.cpu);
  }
  worker_->start(*start);
  loop(**driver);
  report_.transport = (*driver)->transport();
}

void WorkerThread::loop(drivers::Driver& driver) {
  const Pacer pacer(options_.pace);
  report_.pace = pacer.prepare_thread();
  const load::Duration cpu_start = thread_cpu_time();
  std::uint64_t leader_word = 0;
  bool stopped = false;
  load::Duration waited{0};
  while (true) {
    const load::TimePoint next = turn(*worker_, driver, waited);
    if (worker_->finished()) {
      break;
    }
    if (signals_.stopping() || signals_.leader_word() != leader_word) {
      obey_signals(clock_.now(), leader_word, stopped);
    }
    waited = pacer.wait(next, driver.wait_descriptor(), clock_);
  }
  report_.cpu_time = thread_cpu_time() - cpu_start;
}

void WorkerThread::obey_signals(load::TimePoint now, std::uint64_t& leader_word, bool& stopped) {
  if (signals_.abandoning()) {
    worker_->abandon(now);
  } else if (signals_.stopping() && !stopped) {
    stopped = true;
    worker_->stop(now);
  }
  if (const std::uint64_t word = signals_.leader_word(); word != leader_word) {
    leader_word = word;
    worker_->told_leader(Signals::leader_node(word), Signals::leader_term(word), now);
  }
}

}  // namespace raftperf::run
