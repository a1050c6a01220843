// SPDX-License-Identifier: Apache-2.0
#include "wire/cpp/server_session.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <string>
#include <tuple>

#include "wire/cpp/test_vectors.h"

namespace raftperf::wire {
namespace {

constexpr HelloReply kIdentity{.version = 1, .node = 2, .run_token = 77};

Bytes request(Kind kind, std::uint64_t id, std::span<const std::byte> body = {}) {
  Bytes frame(kHeaderSize + body.size());
  put_request_header(frame.data(), kind, id, static_cast<std::uint32_t>(body.size()));
  std::copy(body.begin(), body.end(), frame.begin() + kHeaderSize);
  return frame;
}

Bytes hello(std::uint16_t version_min = 1, std::uint16_t version_max = 1) {
  std::array<std::byte, kHelloRequestSize> body;
  put(body.data(), HelloRequest{.version_min = version_min, .version_max = version_max});
  return request(Kind::kHello, 1, body);
}

Bytes operator+(Bytes left, const Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

/// What a session made of a stream.
struct Seen {
  std::vector<std::tuple<Kind, std::uint64_t, Bytes>> requests;
  Bytes out;
  std::string reason;
  bool closed = false;

  friend bool operator==(const Seen&, const Seen&) = default;
};

/// Feeds the stream in pieces of `piece` bytes, as a receiver would.
Seen feed(const Bytes& stream, std::size_t piece) {
  ServerSession session(kIdentity);
  Seen seen;
  Bytes buffer;
  for (std::size_t at = 0; at < stream.size() && !seen.closed; at += piece) {
    const std::size_t length = std::min(piece, stream.size() - at);
    buffer.insert(buffer.end(), stream.begin() + static_cast<std::ptrdiff_t>(at),
                  stream.begin() + static_cast<std::ptrdiff_t>(at + length));
    const auto consumed = session.consume(buffer, seen.out, [&seen](const Frame& frame) {
      seen.requests.emplace_back(frame.kind, frame.correlation_id,
                                 Bytes(frame.body.begin(), frame.body.end()));
    });
    EXPECT_LE(consumed.bytes, buffer.size());
    buffer.erase(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(consumed.bytes));
    seen.reason = consumed.malformed_reason;
    seen.closed = consumed.close;
  }
  return seen;
}

Bytes all_good_requests() {
  Bytes stream = hello();
  for (const TestVector& vector : read_vectors("frames.txt")) {
    if (vector.text("type") == "request" && vector.text("kind") != "hello") {
      stream = std::move(stream) + vector.bytes("hex");
    }
  }
  return stream;
}

TEST(ServerSession, AnswersHelloWithItsIdentity) {
  ServerSession session(kIdentity);
  Bytes out;
  EXPECT_EQ(session.version(), 0);
  const Bytes stream = hello(1, 9);
  const auto consumed = session.consume(stream, out, [](const Frame&) { FAIL(); });
  EXPECT_EQ(consumed.bytes, stream.size());
  EXPECT_FALSE(consumed.close);
  EXPECT_EQ(session.version(), 1);
  const Parsed reply = parse_frame(out);
  ASSERT_EQ(reply.result, ParseResult::kFrame);
  EXPECT_EQ(reply.frame.correlation_id, 1U);
  const HelloReply identity = get_hello_reply(reply.frame.body);
  EXPECT_EQ(identity.version, 1);
  EXPECT_EQ(identity.node, 2);
  EXPECT_EQ(identity.run_token, 77U);
  EXPECT_EQ(identity.body_length_max, kBodyLengthMax);
}

TEST(ServerSession, RefusesAVersionItDoesNotKnowAndCloses) {
  for (const Bytes& stream : {hello(2, 9), hello(0, 0), hello(5, 1)}) {
    const Seen seen = feed(stream + request(Kind::kStatus, 2), 1'000);
    EXPECT_TRUE(seen.closed);
    EXPECT_TRUE(seen.reason.empty());
    EXPECT_TRUE(seen.requests.empty());
    const Parsed reply = parse_frame(seen.out);
    ASSERT_EQ(reply.result, ParseResult::kFrame);
    EXPECT_EQ(reply.frame.status, Status::kError);
    EXPECT_EQ(reply.frame_size, seen.out.size());
  }
}

TEST(ServerSession, TakesRequestsThatFollowHelloAtOnce) {
  const Seen seen = feed(hello() + request(Kind::kStatus, 5), 1'000);
  ASSERT_EQ(seen.requests.size(), 1U);
  EXPECT_EQ(std::get<1>(seen.requests[0]), 5U);
}

TEST(ServerSession, SeesTheSameHoweverTheStreamIsCut) {
  const Bytes stream = all_good_requests();
  const Seen whole = feed(stream, stream.size());
  EXPECT_GT(whole.requests.size(), 10U);
  EXPECT_FALSE(whole.closed);
  for (const std::size_t piece : {65'536U, 100'003U, 1'048'576U}) {
    EXPECT_EQ(feed(stream, piece), whole) << piece;
  }
}

TEST(ServerSession, SeesTheSameOneByteAtATime) {
  std::array<std::byte, 64> payload{};
  Bytes stream = hello();
  for (std::uint64_t id = 2; id < 100; ++id) {
    stream = std::move(stream) + request(Kind::kAppend, id, std::span(payload).first(id % 64 + 1)) +
             request(Kind::kStatus, id);
  }
  const Seen whole = feed(stream, stream.size());
  EXPECT_EQ(whole.requests.size(), 2U * 98);
  for (const std::size_t piece : {1U, 2U, 3U, 15U, 16U, 17U, 81U}) {
    EXPECT_EQ(feed(stream, piece), whole) << piece;
  }
}

TEST(ServerSession, MalformedStreamsAreRefusedOneByteAtATimeToo) {
  for (const TestVector& vector : read_vectors("malformed.txt")) {
    if (vector.text("receiver") == "server") {
      EXPECT_EQ(feed(vector.bytes("hex"), 1).reason, vector.text("reason")) << vector.text("name");
    }
  }
}

TEST(ServerSession, WhatCameBeforeAFaultIsHandled) {
  Bytes bad = request(Kind::kStatus, 3);
  bad[6] = std::byte{1};
  const Seen seen =
      feed(hello() + request(Kind::kStatus, 2) + bad + request(Kind::kStatus, 4), 999);
  EXPECT_EQ(seen.requests.size(), 1U);
  EXPECT_EQ(seen.reason, "reserved field is not 0");
}

TEST(ServerSession, PauseLeavesTheRestUnreadAndCloseEndsIt) {
  ServerSession session(kIdentity);
  Bytes out;
  const Bytes stream =
      hello() + request(Kind::kStatus, 2) + request(Kind::kStatus, 3) + request(Kind::kStatus, 4);
  std::vector<std::uint64_t> ids;
  const auto handler = [&ids](const Frame& frame) {
    ids.push_back(frame.correlation_id);
    return frame.correlation_id == 2 ? After::kPause : After::kClose;
  };
  const auto paused = session.consume(stream, out, handler);
  EXPECT_FALSE(paused.close);
  EXPECT_EQ(paused.bytes, stream.size() - 2 * kHeaderSize);
  const auto rest = std::span(stream).subspan(paused.bytes);
  const auto closed = session.consume(rest, out, handler);
  EXPECT_TRUE(closed.close);
  EXPECT_TRUE(closed.malformed_reason.empty());
  EXPECT_EQ(closed.bytes, kHeaderSize);
  const auto after = session.consume(rest, out, handler);
  EXPECT_TRUE(after.close);
  EXPECT_EQ(after.bytes, 0U);
  EXPECT_EQ(ids, (std::vector<std::uint64_t>{2, 3}));
}

TEST(ServerSession, MutatedStreamsNeitherCrashNorOverRead) {
  const Bytes good = hello() + request(Kind::kStatus, 2) +
                     request(Kind::kAppend, 3, std::array<std::byte, 40>{}) +
                     request(Kind::kStatus, 4);
  std::mt19937_64 random(42);
  std::uint64_t handled = 0;
  for (int i = 0; i < 50'000; ++i) {
    const std::size_t length = random() % (good.size() + 1);
    const auto stream = std::make_unique<std::byte[]>(length);
    std::copy_n(good.begin(), length, stream.get());
    if (length > 0 && random() % 4 != 0) {
      stream[random() % length] ^= static_cast<std::byte>(1U << (random() % 8));
    }
    ServerSession session(kIdentity);
    Bytes out;
    const auto consumed = session.consume(
        {stream.get(), length}, out, [&handled](const Frame& f) { handled += 1 + f.body.size(); });
    ASSERT_LE(consumed.bytes, length);
  }
  EXPECT_GT(handled, 0U);
}

TEST(Reply, ErrorTextsAreCutBetweenCharacters) {
  EXPECT_EQ(cut_utf8("abc", 3), "abc");
  EXPECT_EQ(cut_utf8("abcd", 3), "abc");
  EXPECT_EQ(cut_utf8("a\u00fcb", 2), "a");
  EXPECT_EQ(cut_utf8("a\u00fcb", 3), "a\u00fc");
  EXPECT_EQ(cut_utf8("\U0001F600x", 3), "");
  EXPECT_EQ(cut_utf8("\x80\x80\x80", 2), "") << "not UTF-8 at all, and still in bounds";

  std::string text(kErrorTextMax - 1, 'e');
  text += "\u00fc and more";
  Bytes out;
  append_error(out, {.kind = Kind::kAppend, .correlation_id = 1}, text);
  const Parsed reply = parse_frame(out);
  ASSERT_EQ(reply.result, ParseResult::kFrame);
  EXPECT_EQ(reply.frame.body.size(), kErrorTextMax - 1);
}

}  // namespace
}  // namespace raftperf::wire
