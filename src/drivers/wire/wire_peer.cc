// SPDX-License-Identifier: Apache-2.0
#include "drivers/wire/wire_peer.h"

#include "drivers/scripted_server.h"
#include "drivers/wire/wire_driver.h"
#include "wire/cpp/reply.h"
#include "wire/cpp/server_session.h"

namespace raftperf::drivers {
namespace {

using conformance::Answer;
using conformance::Answering;
using conformance::Bytes;
using conformance::Request;

class WireCodec final : public conformance::Codec {
 public:
  explicit WireCodec(std::uint32_t node) : session_({.node = static_cast<std::int32_t>(node)}) {}

  Parsed parse(std::span<const std::byte> input, Bytes& out) override {
    Parsed parsed;
    const auto done = session_.consume(input, out, [&](const wire::Frame& frame) {
      parsed.request = Request{.tag = frame.correlation_id};
      kind_ = frame.kind;
      if (frame.kind == wire::Kind::kCompareAndSet) {
        const auto body = wire::get_compare_and_set(frame.body);
        parsed.request->key = body.key;
        parsed.request->value = body.desired;
      } else if (frame.body.size() >= 8) {
        parsed.request->value = wire::load<std::uint64_t>(frame.body.data());
      }
      // One at a time; the next call goes on.
      return wire::After::kPause;
    });
    parsed.size = done.bytes;
    return parsed;
  }

  void encode(const Request& request, const Answer& answer, Bytes& out) override {
    const wire::ReplyTo to{.kind = kind_, .correlation_id = request.tag};
    switch (answer.kind) {
      case Answering::kOk:
        wire::append_value(out, to, answer.value);
        break;
      case Answering::kMismatch:
        wire::append_mismatch(out, to, answer.value);
        break;
      case Answering::kNotLeader:
        wire::append_not_leader(out, to, answer.hint);
        break;
      case Answering::kBusy:
        wire::append_busy(out, to);
        break;
      case Answering::kError:
        wire::append_error(out, to, "told to");
        break;
    }
  }

  Bytes malformed(const Request& request) override {
    Bytes bytes;
    encode(request, Answer{}, bytes);
    bytes[6] = std::byte{1};  // a reserved field
    return bytes;
  }

 private:
  wire::ServerSession session_;
  wire::Kind kind_ = wire::Kind::kAppend;
};

class WireHarness final : public conformance::Harness {
 public:
  [[nodiscard]] std::string name() const override { return "wire"; }
  [[nodiscard]] conformance::Features features() const override { return {.greets = true}; }
  std::unique_ptr<conformance::Server> start_server(std::optional<Answer> answer,
                                                    const std::string& host,
                                                    std::uint32_t node) override {
    return conformance::ScriptedServer::start(host, answer,
                                              [node] { return std::make_unique<WireCodec>(node); });
  }
  Result<DriverPtr> make_driver(const DriverConfig& config) override {
    return WireDriver::create(config);
  }
};

}  // namespace

std::unique_ptr<conformance::Harness> make_wire_harness() {
  return std::make_unique<WireHarness>();
}

}  // namespace raftperf::drivers
