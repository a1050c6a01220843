// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "drivers/driver.h"

namespace raftperf::bench {

/// Answers everything at the next poll and touches no system: what is left is the rig.
class NullDriver final : public drivers::Driver {
 public:
  Result<void> connect(load::CompletionSink& sink) override {
    sink_ = &sink;
    taken_.reserve(load::OperationId::kSlotsMax);
    return {};
  }
  std::size_t submit(std::span<const load::Operation> operations) noexcept override {
    for (const load::Operation& operation : operations) {
      taken_.push_back(operation.id);
    }
    return operations.size();
  }
  void poll() noexcept override {
    if (taken_.empty()) {
      return;
    }
    const load::Arrival arrival = sink_->arrived();
    for (const load::OperationId id : taken_) {
      sink_->complete({.id = id}, arrival);
    }
    taken_.clear();
  }
  void reconnect(std::uint32_t) noexcept override {}
  [[nodiscard]] int wait_descriptor() const noexcept override { return -1; }
  [[nodiscard]] drivers::TransportStats transport() const override { return {}; }
  [[nodiscard]] std::uint32_t request_bytes(const load::Operation&) const noexcept override {
    return 0;
  }
  [[nodiscard]] std::string_view name() const noexcept override { return "null"; }

 private:
  load::CompletionSink* sink_ = nullptr;
  std::vector<load::OperationId> taken_;
};

}  // namespace raftperf::bench
