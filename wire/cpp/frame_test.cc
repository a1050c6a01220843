// SPDX-License-Identifier: Apache-2.0
#include "wire/cpp/frame.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <set>

#include "wire/cpp/reply.h"
#include "wire/cpp/server_session.h"
#include "wire/cpp/test_vectors.h"

namespace raftperf::wire {
namespace {

constexpr std::array kKinds{Kind::kHello, Kind::kAppend, Kind::kCompareAndSet,
                            Kind::kGet,   Kind::kStatus, Kind::kTransferLeader};
constexpr std::array kStatuses{Status::kOk, Status::kMismatch, Status::kNotLeader, Status::kBusy,
                               Status::kError};
constexpr std::array kRoles{Role::kFollower, Role::kCandidate, Role::kLeader, Role::kUnavailable};

template <typename Values>
auto by_name(const Values& values, const std::string& name) {
  for (const auto value : values) {
    if (to_string(value) == name) {
      return value;
    }
  }
  ADD_FAILURE() << "no such name: " << name;
  return values.front();
}

template <typename Body>
void append_body(Bytes& out, const Body& body) {
  std::array<std::byte, kNodeStatusSize> room;
  const std::size_t size = put(room.data(), body);
  out.insert(out.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(size));
}

template <typename T>
void append_integer(Bytes& out, T value) {
  const std::size_t at = out.size();
  out.resize(at + sizeof value);
  store(out.data() + at, value);
}

NodeStatus node_status_of(const TestVector& vector) {
  return {.node = vector.node("node"),
          .role = by_name(kRoles, vector.text("role")),
          .leader = vector.node("leader"),
          .term = vector.number("term"),
          .commit_index = vector.number("commit_index"),
          .applied_index = vector.number("applied_index"),
          .operation_count = vector.number("operation_count"),
          .checksum = vector.number("checksum"),
          .run_token = vector.number("run_token")};
}

HelloReply hello_reply_of(const TestVector& vector) {
  return {.version = static_cast<std::uint16_t>(vector.number("version")),
          .node = vector.node("node"),
          .run_token = vector.number("run_token"),
          .body_length_max = static_cast<std::uint32_t>(vector.number("body_length_max"))};
}

CompareAndSet compare_and_set_of(const TestVector& vector) {
  return {.key = vector.number("key"),
          .expected = vector.number("expected"),
          .desired = vector.number("desired")};
}

Bytes encode_request(const TestVector& vector, Kind kind) {
  Bytes body;
  switch (kind) {
    case Kind::kHello:
      append_body(
          body,
          HelloRequest{.magic = vector.number("magic"),
                       .version_min = static_cast<std::uint16_t>(vector.number("version_min")),
                       .version_max = static_cast<std::uint16_t>(vector.number("version_max"))});
      break;
    case Kind::kAppend:
      body = vector.bytes("payload");
      break;
    case Kind::kCompareAndSet:
      append_body(body, compare_and_set_of(vector));
      break;
    case Kind::kGet:
      append_integer(body, vector.number("key"));
      break;
    case Kind::kStatus:
      break;
    case Kind::kTransferLeader:
      append_integer(body, vector.node("node"));
      break;
  }
  Bytes frame(kHeaderSize);
  put_request_header(frame.data(), kind, vector.number("id"),
                     static_cast<std::uint32_t>(body.size()));
  frame.insert(frame.end(), body.begin(), body.end());
  return frame;
}

std::string as_string(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Bytes encode_ok_reply(const TestVector& vector, ReplyTo to) {
  Bytes frame;
  if (to.kind == Kind::kHello) {
    append_hello(frame, to.correlation_id, hello_reply_of(vector));
  } else if (to.kind == Kind::kStatus) {
    append_node_status(frame, to.correlation_id, node_status_of(vector));
  } else if (to.kind == Kind::kTransferLeader) {
    append_done(frame, to);
  } else {
    append_value(frame, to, vector.number(to.kind == Kind::kAppend ? "log_index" : "value"));
  }
  return frame;
}

Bytes encode_reply(const TestVector& vector, Kind kind) {
  const ReplyTo to{.kind = kind, .correlation_id = vector.number("id")};
  Bytes frame;
  switch (by_name(kStatuses, vector.text("status"))) {
    case Status::kOk:
      return encode_ok_reply(vector, to);
    case Status::kMismatch:
      append_mismatch(frame, to, vector.number("value"));
      break;
    case Status::kNotLeader:
      append_not_leader(frame, to, vector.node("hint"));
      break;
    case Status::kBusy:
      append_busy(frame, to);
      break;
    case Status::kError:
      append_error(frame, to, as_string(vector.bytes("text")));
      break;
  }
  return frame;
}

void expect_request_body(const TestVector& vector, const Frame& frame) {
  if (frame.kind == Kind::kHello) {
    const HelloRequest hello = get_hello_request(frame.body);
    EXPECT_EQ(hello.magic, vector.number("magic"));
    EXPECT_EQ(hello.version_min, vector.number("version_min"));
    EXPECT_EQ(hello.version_max, vector.number("version_max"));
  } else if (frame.kind == Kind::kAppend) {
    EXPECT_EQ(Bytes(frame.body.begin(), frame.body.end()), vector.bytes("payload"));
  } else if (frame.kind == Kind::kCompareAndSet) {
    const CompareAndSet request = get_compare_and_set(frame.body);
    EXPECT_EQ(request.key, vector.number("key"));
    EXPECT_EQ(request.expected, vector.number("expected"));
    EXPECT_EQ(request.desired, vector.number("desired"));
  } else if (frame.kind == Kind::kGet) {
    EXPECT_EQ(load<std::uint64_t>(frame.body.data()), vector.number("key"));
  } else if (frame.kind == Kind::kTransferLeader) {
    EXPECT_EQ(load<std::int32_t>(frame.body.data()), vector.node("node"));
  }
}

void expect_ok_reply_body(const TestVector& vector, const Frame& frame) {
  if (frame.kind == Kind::kHello) {
    const HelloReply hello = get_hello_reply(frame.body);
    const HelloReply expected = hello_reply_of(vector);
    EXPECT_EQ(hello.version, expected.version);
    EXPECT_EQ(hello.node, expected.node);
    EXPECT_EQ(hello.run_token, expected.run_token);
    EXPECT_EQ(hello.body_length_max, expected.body_length_max);
  } else if (frame.kind == Kind::kStatus) {
    EXPECT_EQ(get_node_status(frame.body), node_status_of(vector));
  } else if (frame.kind != Kind::kTransferLeader) {
    EXPECT_EQ(load<std::uint64_t>(frame.body.data()),
              vector.number(frame.kind == Kind::kAppend ? "log_index" : "value"));
  }
}

void expect_reply_body(const TestVector& vector, const Frame& frame) {
  EXPECT_EQ(to_string(frame.status), vector.text("status"));
  if (frame.status == Status::kOk) {
    expect_ok_reply_body(vector, frame);
  } else if (frame.status == Status::kMismatch) {
    EXPECT_EQ(load<std::uint64_t>(frame.body.data()), vector.number("value"));
  } else if (frame.status == Status::kNotLeader) {
    EXPECT_EQ(load<std::int32_t>(frame.body.data()), vector.node("hint"));
  } else if (frame.status == Status::kError) {
    EXPECT_EQ(Bytes(frame.body.begin(), frame.body.end()), vector.bytes("text"));
  }
}

TEST(Vectors, EncodeToTheirBytes) {
  for (const TestVector& vector : read_vectors("frames.txt")) {
    const Kind kind = by_name(kKinds, vector.text("kind"));
    const bool is_reply = vector.text("type") == "reply";
    EXPECT_EQ(is_reply ? encode_reply(vector, kind) : encode_request(vector, kind),
              vector.bytes("hex"))
        << vector.text("name");
  }
}

TEST(Vectors, DecodeToTheirFields) {
  for (const TestVector& vector : read_vectors("frames.txt")) {
    SCOPED_TRACE(vector.text("name"));
    const Bytes bytes = vector.bytes("hex");
    const Parsed parsed = parse_frame(bytes);
    ASSERT_EQ(parsed.result, ParseResult::kFrame) << parsed.reason;
    EXPECT_EQ(parsed.frame_size, bytes.size());
    EXPECT_EQ(to_string(parsed.frame.kind), vector.text("kind"));
    EXPECT_EQ(parsed.frame.is_reply, vector.text("type") == "reply");
    EXPECT_EQ(parsed.frame.correlation_id, vector.number("id"));
    parsed.frame.is_reply ? expect_reply_body(vector, parsed.frame)
                          : expect_request_body(vector, parsed.frame);
  }
}

TEST(Vectors, CoverEveryKindAndEveryStatus) {
  std::set<std::string> covered;
  for (const TestVector& vector : read_vectors("frames.txt")) {
    covered.insert(vector.text("type") + " " + vector.text("kind"));
    if (vector.has("status")) {
      covered.insert(vector.text("status"));
    }
  }
  EXPECT_EQ(covered.size(), 2 * kKinds.size() + kStatuses.size());
}

/// Reads a client's or server's stream as the text of SPEC.md demands; the reason why
/// it is refused, and how many good frames came before.
std::pair<std::string, std::uint64_t> refusal_of_replies(std::span<const std::byte> stream) {
  for (std::uint64_t frames = 0;; ++frames) {
    const Parsed parsed = parse_frame(stream);
    if (parsed.result != ParseResult::kFrame) {
      return {std::string(parsed.reason), frames};
    }
    if (!parsed.frame.is_reply) {
      return {"a request from a server", frames};
    }
    stream = stream.subspan(parsed.frame_size);
  }
}

TEST(Vectors, MalformedFramesAreRefusedForTheirReason) {
  for (const TestVector& vector : read_vectors("malformed.txt")) {
    SCOPED_TRACE(vector.text("name"));
    const Bytes stream = vector.bytes("hex");
    if (vector.text("receiver") == "client") {
      const auto [reason, frames] = refusal_of_replies(stream);
      EXPECT_EQ(reason, vector.text("reason"));
      EXPECT_EQ(frames, vector.number("frames"));
      continue;
    }
    ServerSession session{HelloReply{}};
    Bytes out;
    const auto consumed = session.consume(stream, out, [](const Frame&) {});
    EXPECT_EQ(consumed.malformed_reason, vector.text("reason"));
    EXPECT_TRUE(consumed.close);
    EXPECT_EQ(session.version() != 0, vector.number("frames") == 1);
  }
}

TEST(Vectors, ChecksumsAreTheirs) {
  for (const TestVector& vector : read_vectors("checksum.txt")) {
    const bool append = vector.text("kind") == "append";
    EXPECT_EQ(append
                  ? mix_append(vector.bytes("payload"))
                  : mix_compare_and_set(compare_and_set_of(vector), vector.number("value_after")),
              vector.number("mix"))
        << vector.text("name");
  }
}

TEST(ParseFrame, EveryBeginningOfAFrameNeedsMore) {
  for (const TestVector& vector : read_vectors("frames.txt")) {
    const Bytes bytes = vector.bytes("hex");
    const std::size_t step = bytes.size() > 4096 ? 65'521 : 1;
    for (std::size_t length = 0; length < bytes.size(); length += step) {
      // A copy of exactly that length, so that a sanitizer sees a read beyond it.
      const auto part = std::make_unique<std::byte[]>(length);
      std::copy_n(bytes.begin(), length, part.get());
      EXPECT_EQ(parse_frame({part.get(), length}).result, ParseResult::kNeedMore)
          << vector.text("name") << " cut to " << length;
    }
  }
}

TEST(ParseFrame, TakesTheFirstOfCoalescedFrames) {
  Bytes stream;
  std::vector<std::size_t> sizes;
  for (const TestVector& vector : read_vectors("frames.txt")) {
    const Bytes bytes = vector.bytes("hex");
    stream.insert(stream.end(), bytes.begin(), bytes.end());
    sizes.push_back(bytes.size());
  }
  std::span<const std::byte> rest = stream;
  for (const std::size_t size : sizes) {
    const Parsed parsed = parse_frame(rest);
    ASSERT_EQ(parsed.result, ParseResult::kFrame);
    ASSERT_EQ(parsed.frame_size, size);
    rest = rest.subspan(size);
  }
  EXPECT_TRUE(rest.empty());
}

/// Reads all that an accepted frame claims to hold.
std::uint64_t touch(const Frame& frame) {
  std::uint64_t sum = frame.correlation_id;
  for (const std::byte byte : frame.body) {
    sum += static_cast<std::uint64_t>(byte);
  }
  if (!frame.is_reply && frame.kind == Kind::kCompareAndSet) {
    sum += get_compare_and_set(frame.body).desired;
  } else if (!frame.is_reply && frame.kind == Kind::kHello) {
    sum += get_hello_request(frame.body).magic;
  } else if (frame.is_reply && frame.status == Status::kOk && frame.kind == Kind::kStatus) {
    sum += get_node_status(frame.body).checksum;
  } else if (frame.is_reply && frame.status == Status::kOk && frame.kind == Kind::kHello) {
    sum += get_hello_reply(frame.body).run_token;
  }
  return sum;
}

// Seeded, so that a failure can be repeated; under ASan an over-read ends the test.
TEST(ParseFrame, MutatedFramesNeitherCrashNorOverRead) {
  std::vector<Bytes> seeds;
  for (const TestVector& vector : read_vectors("frames.txt")) {
    if (Bytes bytes = vector.bytes("hex"); bytes.size() < 4096) {
      seeds.push_back(std::move(bytes));
    }
  }
  std::mt19937_64 random(20260);
  std::uint64_t sum = 0;
  std::array<std::uint64_t, 3> results{};
  for (int i = 0; i < 200'000; ++i) {
    Bytes input = seeds[random() % seeds.size()];
    for (std::uint64_t changes = random() % 4; changes > 0; --changes) {
      // Mostly the header: a change of the body is of no interest to the parser.
      const std::size_t range = random() % 4 == 0 ? input.size() : kHeaderSize;
      input[random() % range] = static_cast<std::byte>(random() % 3 == 0 ? random() : random() % 8);
    }
    const std::size_t length = random() % 3 == 0 ? random() % (input.size() + 1) : input.size();
    const auto exact = std::make_unique<std::byte[]>(length);
    std::copy_n(input.begin(), length, exact.get());
    const Parsed parsed = parse_frame({exact.get(), length});
    ++results[static_cast<std::size_t>(parsed.result)];
    if (parsed.result == ParseResult::kFrame) {
      ASSERT_LE(parsed.frame_size, length);
      sum += touch(parsed.frame);
    } else {
      ASSERT_EQ(parsed.result == ParseResult::kMalformed, !parsed.reason.empty());
    }
  }
  EXPECT_NE(sum, 0U);
  for (const std::uint64_t count : results) {
    EXPECT_GT(count, 1'000U) << "the mutations no longer reach every result";
  }
}

}  // namespace
}  // namespace raftperf::wire
