// SPDX-License-Identifier: Apache-2.0
#include "wire/cpp/reply.h"

#include "base/check.h"

namespace raftperf::wire {
namespace {

/// Appends a header and room for the body; returns where the body begins.
std::byte* append_frame(std::vector<std::byte>& out, ReplyTo to, Status status,
                        std::size_t body_length) {
  const std::size_t at = out.size();
  out.resize(at + kHeaderSize + body_length);
  put_reply_header(out.data() + at, to.kind, status, to.correlation_id,
                   static_cast<std::uint32_t>(body_length));
  return out.data() + at + kHeaderSize;
}

bool continues_character(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

}  // namespace

void append_value(std::vector<std::byte>& out, ReplyTo to, std::uint64_t value) {
  CHECK(to.kind == Kind::kAppend || to.kind == Kind::kCompareAndSet || to.kind == Kind::kGet);
  store(append_frame(out, to, Status::kOk, sizeof value), value);
}

void append_done(std::vector<std::byte>& out, ReplyTo to) {
  CHECK(to.kind == Kind::kTransferLeader);
  append_frame(out, to, Status::kOk, 0);
}

void append_mismatch(std::vector<std::byte>& out, ReplyTo to, std::uint64_t value) {
  CHECK(to.kind == Kind::kCompareAndSet);
  store(append_frame(out, to, Status::kMismatch, sizeof value), value);
}

void append_not_leader(std::vector<std::byte>& out, ReplyTo to, std::int32_t hint) {
  store(append_frame(out, to, Status::kNotLeader, sizeof hint), hint);
}

void append_busy(std::vector<std::byte>& out, ReplyTo to) {
  append_frame(out, to, Status::kBusy, 0);
}

void append_error(std::vector<std::byte>& out, ReplyTo to, std::string_view text) {
  const std::string_view sent = cut_utf8(text, kErrorTextMax);
  std::byte* body = append_frame(out, to, Status::kError, sent.size());
  if (!sent.empty()) {
    std::memcpy(body, sent.data(), sent.size());
  }
}

void append_node_status(std::vector<std::byte>& out, std::uint64_t correlation_id,
                        const NodeStatus& status) {
  const ReplyTo to{.kind = Kind::kStatus, .correlation_id = correlation_id};
  put(append_frame(out, to, Status::kOk, kNodeStatusSize), status);
}

void append_hello(std::vector<std::byte>& out, std::uint64_t correlation_id,
                  const HelloReply& hello) {
  const ReplyTo to{.kind = Kind::kHello, .correlation_id = correlation_id};
  put(append_frame(out, to, Status::kOk, kHelloReplySize), hello);
}

std::string_view cut_utf8(std::string_view text, std::size_t length_max) noexcept {
  if (text.size() <= length_max) {
    return text;
  }
  std::size_t length = length_max;
  while (length > 0 && continues_character(text[length])) {
    --length;
  }
  return text.substr(0, length);
}

}  // namespace raftperf::wire
