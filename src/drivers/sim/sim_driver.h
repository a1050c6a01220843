// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <queue>
#include <unordered_map>

#include "drivers/driver.h"
#include "drivers/sim/sim_server.h"

namespace raftperf::drivers {

struct SimOptions {
  SimServerOptions server;
  // Faults, each by the number of the operation as the server counts it from 1; 0 is never.
  std::uint64_t error_every = 0;     ///< Answered with an error.
  std::uint64_t drop_every = 0;      ///< Never answered.
  std::uint64_t mismatch_every = 0;  ///< Answered as a compare-and-set that did not match.
  std::vector<SimPeriod> no_leader;  ///< Nobody leads: answered "not leader", without a hint.
  std::vector<SimPeriod> held;       ///< What arrives inside is never answered.
  std::vector<SimPeriod> refused;    ///< The driver takes nothing: back pressure.
  std::vector<SimPeriod> circling;   ///< Nobody leads, and each node names the next one.
  std::uint32_t leader = 0;          ///< Only this node answers; others name it.
  std::uint32_t nodes = 1;           ///< How many there are, for `circling`.
};

/// A driver whose server is computed (`SimServer`), in this process: the rig's ground
/// truth on simulated time, its floor on real time. It takes the present from the sink,
/// since simulating a server needs it.
class SimDriver final : public Driver {
 public:
  explicit SimDriver(const SimOptions& options) : options_(options) {}

  Result<void> connect(load::CompletionSink& sink) override;
  std::size_t submit(std::span<const load::Operation> operations) noexcept override;
  void poll() noexcept override;
  void reconnect(std::uint32_t node) noexcept override;
  [[nodiscard]] int wait_descriptor() const noexcept override { return -1; }
  [[nodiscard]] TransportStats transport() const override { return transport_; }
  [[nodiscard]] std::uint32_t request_bytes(const load::Operation&) const noexcept override {
    return 0;
  }
  [[nodiscard]] std::string_view name() const noexcept override { return "sim"; }

  /// When the next answer is ready; `kNever` without one. For whoever moves the clock.
  [[nodiscard]] load::TimePoint next_answer() const noexcept;
  /// Operations applied so far: what the books are compared with.
  [[nodiscard]] std::uint64_t applied() const noexcept { return applied_; }

  /// Refuses a mistake in `settings`: see settings() in sim_driver.cc for the keys.
  static Result<SimOptions> read_settings(const std::map<std::string, std::string>& settings);

 private:
  struct Answer {
    load::TimePoint at;
    std::uint64_t order;  ///< Answers of one instant come in the order of their requests.
    load::Completion completion;
    friend bool operator>(const Answer& a, const Answer& b) noexcept {
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };

  void serve(const load::Operation& operation, load::TimePoint now);
  [[nodiscard]] bool inside(const std::vector<SimPeriod>& periods,
                            load::TimePoint now) const noexcept;

  SimOptions options_;
  load::CompletionSink* sink_ = nullptr;
  load::TimePoint start_;
  std::optional<SimServer> server_;
  std::priority_queue<Answer, std::vector<Answer>, std::greater<>> answers_;
  std::unordered_map<std::uint64_t, std::uint64_t> values_;
  std::uint64_t received_ = 0;
  std::uint64_t applied_ = 0;
  TransportStats transport_;
};

}  // namespace raftperf::drivers
