// SPDX-License-Identifier: Apache-2.0
#include "drivers/conformance_probe.h"

#include <poll.h>

#include <algorithm>

namespace raftperf::drivers::conformance {
namespace {

constexpr std::chrono::seconds kWaitMax{20};

}  // namespace

Result<void> Probe::connect(DriverConfig config) {
  config_ = std::move(config);
  auto driver = harness_.make_driver(config_);
  if (!driver) {
    return Error{driver.error()};
  }
  worker_ = std::make_unique<load::Worker>(
      load::WorkerOptions{.mode = load::LoadMode::kClosed,
                          .slots = config_.in_flight_max,
                          .window = {.start = {}, .end = std::chrono::hours{1}},
                          .nodes = static_cast<std::uint32_t>(config_.nodes.size()),
                          .leader = 0},
      nullptr, clock_);
  load::SinkTap* tap = this;
  sink_ = std::make_unique<load::CompletionSink>(*worker_, tap);
  driver_ = *std::move(driver);
  return driver_->connect(*sink_);
}

bool Probe::connect_to(const Server& server, DriverConfig config) {
  config.nodes = {server.endpoint()};
  config.in_flight_max = std::max(config.in_flight_max, 128U);
  const auto connected = connect(std::move(config));
  EXPECT_TRUE(connected.ok()) << connected.error();
  return connected.ok();
}

std::vector<load::Operation> Probe::operations(std::uint32_t count, std::uint32_t lane) {
  ++generation_;
  std::vector<load::Operation> all;
  for (std::uint32_t slot = 0; slot < count; ++slot) {
    load::Operation operation;
    operation.id = load::OperationId(slot, generation_);
    operation.kind = config_.operation;
    operation.lane = lane;
    operation.value_size = config_.value_size;
    operation.key = slot;
    operation.value = generation_ * 1'000'000 + slot + 1;
    all.push_back(operation);
  }
  return all;
}

std::size_t Probe::submit(std::span<const load::Operation> operations) {
  const std::size_t before = completions.size();
  const std::size_t links_before = links.size();
  const std::size_t taken = driver_->submit(operations);
  EXPECT_LE(taken, operations.size());
  EXPECT_EQ(completions.size(), before) << "completed inside submit";
  EXPECT_EQ(links.size(), links_before) << "a link reported inside submit";
  return taken;
}

bool Probe::submit_all(std::span<const load::Operation> operations) {
  return until([&] {
    operations = operations.subspan(submit(operations));
    return operations.empty();
  });
}

bool Probe::until(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kWaitMax;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    poll_once();
  }
  return true;
}

void Probe::poll_once() {
  // Often what is waited for is the server's doing, which no descriptor tells.
  pollfd waiting{.fd = driver_->wait_descriptor(), .events = POLLIN, .revents = 0};
  (void)::poll(&waiting, 1, 1);
  driver_->poll();
}

bool Probe::until_link(std::uint32_t node, Link link, std::size_t since) {
  return until([&] {
    return std::any_of(links.begin() + static_cast<std::ptrdiff_t>(since), links.end(),
                       [&](const LinkReport& l) { return l.node == node && l.link == link; });
  });
}

void Probe::expect_each_once(std::span<const load::Operation> operations) const {
  std::map<std::uint64_t, int> seen;
  for (const load::Completion& completion : completions) {
    ++seen[completion.id.bits()];
  }
  for (const load::Operation& operation : operations) {
    EXPECT_EQ(seen[operation.id.bits()], 1) << "slot " << operation.id.slot();
  }
  EXPECT_EQ(seen.size(), operations.size());
}

std::map<load::Reason, std::size_t> Probe::reasons() const {
  std::map<load::Reason, std::size_t> counts;
  for (const load::Completion& completion : completions) {
    ++counts[completion.reason];
  }
  return counts;
}

}  // namespace raftperf::drivers::conformance
