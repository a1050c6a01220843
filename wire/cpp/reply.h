// SPDX-License-Identifier: Apache-2.0
//
// Whole replies (wire/SPEC.md sections 3 and 4), appended to a byte vector: what a
// server sends. Nothing allocates but the vector's growth.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "wire/cpp/frame.h"

namespace raftperf::wire {

/// Which request a reply answers.
struct ReplyTo {
  Kind kind = Kind::kAppend;
  std::uint64_t correlation_id = 0;
};

/// What a request asked, so that its reply can be written later.
inline ReplyTo reply_to(const Frame& request) noexcept {
  return {.kind = request.kind, .correlation_id = request.correlation_id};
}

/// ok with a log index or a value. REQUIRES: kind append, compare_and_set or get.
void append_value(std::vector<std::byte>& out, ReplyTo to, std::uint64_t value);

/// ok without a body. REQUIRES: kind transfer_leader.
void append_done(std::vector<std::byte>& out, ReplyTo to);

/// mismatch with the value that stands. REQUIRES: kind compare_and_set.
void append_mismatch(std::vector<std::byte>& out, ReplyTo to, std::uint64_t value);

/// not_leader; `hint` is the node believed to lead, or kNoNode.
void append_not_leader(std::vector<std::byte>& out, ReplyTo to, std::int32_t hint);

void append_busy(std::vector<std::byte>& out, ReplyTo to);

/// error; a text longer than kErrorTextMax is cut between two UTF-8 characters.
void append_error(std::vector<std::byte>& out, ReplyTo to, std::string_view text);

void append_node_status(std::vector<std::byte>& out, std::uint64_t correlation_id,
                        const NodeStatus& status);
void append_hello(std::vector<std::byte>& out, std::uint64_t correlation_id,
                  const HelloReply& hello);

/// The longest beginning of `text` that has at most `length_max` bytes and does not
/// end within a UTF-8 character.
[[nodiscard]] std::string_view cut_utf8(std::string_view text, std::size_t length_max) noexcept;

}  // namespace raftperf::wire
