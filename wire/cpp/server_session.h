// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "wire/cpp/frame.h"
#include "wire/cpp/reply.h"

namespace raftperf::wire {

/// What a server wants after one request.
enum class After : std::uint8_t {
  kContinue,  ///< Go on with the next frame.
  kPause,     ///< Leave the rest unread; `consume` it later.
  kClose,     ///< Close the connection, with what is in `out` sent first.
};

/// The server's half of one connection, without I/O: reads frames, answers hello,
/// enforces wire/SPEC.md section 6. One thread at a time. Allocates nothing but the
/// growth of the caller's reply buffer.
class ServerSession {
 public:
  struct Consumed {
    std::size_t bytes = 0;              ///< Of `received`; the rest must be offered again.
    std::string_view malformed_reason;  ///< Static text; empty if all is well.
    bool close = false;                 ///< Send what is in `out`, then close.
  };

  /// `identity` is what hello is answered with; its version is the newest served.
  explicit ServerSession(const HelloReply& identity) noexcept : identity_(identity) {}

  /// Reads every whole frame of `received`, appends the answer to a hello to `out`,
  /// and calls `handler(const Frame&)`, which returns void or After, for each other
  /// request in order. A frame's body points into `received`. A reader's buffer of
  /// `kFrameSizeMax` bytes always makes progress. After a close it reads nothing.
  template <typename Handler>
  Consumed consume(std::span<const std::byte> received, std::vector<std::byte>& out,
                   Handler&& handler) {
    Consumed done;
    while (!closed_) {
      const Parsed parsed = parse_frame(received.subspan(done.bytes));
      if (parsed.result == ParseResult::kNeedMore) {
        return done;
      }
      if (parsed.result == ParseResult::kMalformed) [[unlikely]] {
        refuse(done, parsed.reason);
        break;
      }
      const Frame& frame = parsed.frame;
      if (!greeted_ || frame.kind == Kind::kHello || frame.is_reply) [[unlikely]] {
        greet(frame, out, done);
        done.bytes += closed_ ? 0 : parsed.frame_size;
        continue;
      }
      done.bytes += parsed.frame_size;
      if constexpr (std::is_void_v<std::invoke_result_t<Handler&, const Frame&>>) {
        handler(frame);
      } else {
        const After after = handler(frame);
        closed_ = after == After::kClose;
        if (after == After::kPause) {
          return done;
        }
      }
    }
    done.close = true;
    return done;
  }

  /// The version agreed by hello; 0 before.
  [[nodiscard]] std::uint16_t version() const noexcept { return greeted_ ? version_ : 0; }

 private:
  void refuse(Consumed& done, std::string_view reason) noexcept;
  void greet(const Frame& frame, std::vector<std::byte>& out, Consumed& done);

  HelloReply identity_;
  std::uint16_t version_ = 0;
  bool greeted_ = false;
  bool closed_ = false;
};

}  // namespace raftperf::wire
