// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "drivers/conformance.h"
#include "load/completion_sink.h"
#include "load/worker.h"

namespace raftperf::drivers::conformance {

/// A driver under test and all that it has reported. Takes the worker's place: submits,
/// polls, waits. No wait is longer than 20 s. One thread.
class Probe final : private load::SinkTap {
 public:
  using Link = load::SinkTap::Link;

  explicit Probe(Harness& harness) : harness_(harness) {}

  /// Makes a driver and connects it.
  Result<void> connect(DriverConfig config);
  /// To one server; it must succeed.
  bool connect_to(const Server& server, DriverConfig config = {});

  /// `count` operations in the slots from 0 on, each of a new generation.
  std::vector<load::Operation> operations(std::uint32_t count, std::uint32_t lane = 0);
  /// Offers them once, and checks that nothing is completed meanwhile.
  std::size_t submit(std::span<const load::Operation> operations);
  /// Offers them until all are taken.
  bool submit_all(std::span<const load::Operation> operations);

  /// Waits up to 1 ms for the descriptor and polls.
  void poll_once();
  /// Polls until it holds; false if it never does.
  bool until(const std::function<bool()>& condition);
  bool until_completed(std::size_t count) {
    return until([this, count] { return completions.size() >= count; });
  }
  /// Polls until `link` of node has been reported after the first `since` reports.
  bool until_link(std::uint32_t node, Link link, std::size_t since = 0);

  /// Each of these was completed once, and nothing else was.
  void expect_each_once(std::span<const load::Operation> operations) const;
  /// How often each reason was given.
  [[nodiscard]] std::map<load::Reason, std::size_t> reasons() const;

  Driver& driver() { return *driver_; }
  DriverPtr& driver_pointer() { return driver_; }

  std::vector<load::Completion> completions;
  struct LinkReport {
    std::uint32_t node;
    Link link;
  };
  std::vector<LinkReport> links;

 private:
  void completed(const load::Completion& completion) override { completions.push_back(completion); }
  void link(std::uint32_t node, Link link) override { links.push_back({node, link}); }

  class Clock final : public load::TimeSource {
   public:
    load::TimePoint now() noexcept override { return std::chrono::steady_clock::now(); }
  };

  Harness& harness_;
  Clock clock_;
  std::unique_ptr<load::Worker> worker_;
  std::unique_ptr<load::CompletionSink> sink_;
  DriverPtr driver_;
  DriverConfig config_;
  std::uint64_t generation_ = 0;
};

}  // namespace raftperf::drivers::conformance

/// A server on loopback that behaves so, and a probe connected to it; or the case is
/// skipped, since the harness has no such server.
#define START_OR_SKIP(server, probe, answer, config)                \
  const auto server = harness.start_server(answer, "127.0.0.1", 0); \
  if (server == nullptr) {                                          \
    GTEST_SKIP() << "no such server in this harness";               \
  }                                                                 \
  Probe probe(harness);                                             \
  ASSERT_TRUE(probe.connect_to(*server, config))

#define NEEDS(feature)                                    \
  if (!harness.features().feature) {                      \
    GTEST_SKIP() << "the protocol is without: " #feature; \
  }                                                       \
  static_assert(true)
