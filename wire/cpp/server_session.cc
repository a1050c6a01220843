// SPDX-License-Identifier: Apache-2.0
#include "wire/cpp/server_session.h"

#include <algorithm>

namespace raftperf::wire {

void ServerSession::refuse(Consumed& done, std::string_view reason) noexcept {
  done.malformed_reason = reason;
  closed_ = true;
}

void ServerSession::greet(const Frame& frame, std::vector<std::byte>& out, Consumed& done) {
  if (frame.is_reply) {
    refuse(done, "a reply from a client");
    return;
  }
  if (frame.kind != Kind::kHello) {
    refuse(done, "the first frame is not hello");
    return;
  }
  if (greeted_) {
    refuse(done, "a second hello");
    return;
  }
  const HelloRequest hello = get_hello_request(frame.body);
  if (hello.magic != kMagic) {
    refuse(done, "hello with a wrong magic");
    return;
  }
  const std::uint16_t version = std::min(hello.version_max, identity_.version);
  if (version < hello.version_min || version == 0) {
    append_error(out, reply_to(frame), "no common version: this server speaks version 1");
    closed_ = true;
    return;
  }
  HelloReply reply = identity_;
  reply.version = version;
  append_hello(out, frame.correlation_id, reply);
  version_ = version;
  greeted_ = true;
}

}  // namespace raftperf::wire
