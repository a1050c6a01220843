// SPDX-License-Identifier: Apache-2.0
#include "drivers/conformance.h"
#include "drivers/sim/sim_driver.h"

namespace raftperf::drivers {
namespace {

using conformance::Answer;
using conformance::Answering;
using conformance::Bytes;
using conformance::Request;

/// The simulated server is inside the driver, so that there is nobody to ask.
class SimServerStandIn final : public conformance::Server {
 public:
  [[nodiscard]] net::Endpoint endpoint() const override { return {.host = "sim", .port = 1}; }
  void answer_all(std::optional<Answer>) override {}
  [[nodiscard]] std::vector<Request> requests() const override { return {}; }
  void answer(std::span<const Request>, const Answer&) override {}
  [[nodiscard]] std::uint64_t bytes_received() const override { return 0; }
  void freeze(bool) override {}
  [[nodiscard]] std::size_t connections() const override { return 1; }
  void drop_connections(std::size_t) override {}
  void listen(bool) override {}
  [[nodiscard]] Bytes encode(const Request&, const Answer&) override { return {}; }
  [[nodiscard]] Bytes malformed(const Request&) override { return {}; }
  void send(std::size_t, std::span<const std::byte>) override {}
};

class SimHarness final : public conformance::Harness {
 public:
  [[nodiscard]] std::string name() const override { return "sim"; }
  [[nodiscard]] conformance::Features features() const override {
    return {.network = false, .scripted = false, .raw_bytes = false, .busy = false};
  }
  std::unique_ptr<conformance::Server> start_server(std::optional<Answer> answer,
                                                    const std::string&, std::uint32_t) override {
    if (!answer) {
      return nullptr;
    }
    options_ = {};
    // Answers of many servers with service times of their own come in any order.
    options_.server.service_time = std::chrono::microseconds{100};
    options_.server.distribution = ServiceTime::kExponential;
    switch (answer->kind) {
      case Answering::kOk:
        break;
      case Answering::kMismatch:
        options_.mismatch_every = 1;
        break;
      case Answering::kNotLeader:
        if (answer->hint >= 0) {
          options_.leader = static_cast<std::uint32_t>(answer->hint);
        } else {
          options_.no_leader = {{.at = {}, .length = std::chrono::hours{1}}};
        }
        break;
      case Answering::kError:
        options_.error_every = 1;
        break;
      case Answering::kBusy:
        return nullptr;
    }
    return std::make_unique<SimServerStandIn>();
  }
  Result<DriverPtr> make_driver(const DriverConfig&) override {
    return DriverPtr(std::make_unique<SimDriver>(options_));
  }

 private:
  SimOptions options_;
};

[[maybe_unused]] const bool kRegistered =
    conformance::register_cases("sim_conformance", [] { return std::make_unique<SimHarness>(); });

}  // namespace
}  // namespace raftperf::drivers
