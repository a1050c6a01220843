// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/file_descriptor.h"
#include "load/time.h"
#include "wire/cpp/frame.h"

namespace raftperf::drivers {

/// One non-blocking TCP connection of the wire driver: a socket, what is to be sent, and
/// the beginning of a reply whose rest has not come yet.
///
/// Frames are collected by `reserve` and leave together by `flush`. What the kernel did
/// not take waits, and meanwhile nothing more is taken in: so output always starts at the
/// buffer's beginning and is never moved.
class WireConnection {
 public:
  enum class State : std::uint8_t {
    kClosed,
    kConnecting,  ///< The TCP connection is being made.
    kGreeting,    ///< hello is sent; its reply is awaited.
    kReady,
  };

  /// The longest reply: an error with the longest text (wire/SPEC.md section 4).
  static constexpr std::size_t kReplySizeMax = wire::kHeaderSize + wire::kErrorTextMax;

  /// `frame_max`: bytes of the largest request frame.
  WireConnection(std::uint32_t node, std::size_t frame_max);

  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] bool ready() const noexcept { return state_ == State::kReady; }
  [[nodiscard]] bool undecided() const noexcept {
    return state_ == State::kConnecting || state_ == State::kGreeting;
  }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] std::uint32_t node() const noexcept { return node_; }

  /// Takes over a socket on which `connect` has been started.
  void open(FileDescriptor fd) noexcept;
  /// The TCP connection stands: sends hello.
  void greet() noexcept;
  void mark_ready() noexcept { state_ = State::kReady; }
  void close() noexcept;

  /// Room for `size` bytes at the end of what will be sent; null if there is none, or if
  /// an earlier flush left something behind.
  [[nodiscard]] std::byte* reserve(std::size_t size) noexcept {
    if (blocked_ || size > capacity_ - filled_) {
      return nullptr;
    }
    std::byte* at = out_.get() + filled_;
    filled_ += size;
    return at;
  }
  /// Bytes wait to be sent.
  [[nodiscard]] bool has_output() const noexcept { return sent_ < filled_; }
  /// Sends what it can with one system call.
  void flush() noexcept;
  /// A send found the connection gone. Nothing more is taken in.
  [[nodiscard]] bool broken() const noexcept { return broken_; }

  enum class Io : std::uint8_t { kDone, kWouldBlock, kLost };
  struct Received {
    Io io;
    bool more;                         ///< The buffer was filled: more may be there.
    std::span<const std::byte> bytes;  ///< Into the buffer; with what was kept in front.
  };
  /// Receives what is there into `buffer`, with one system call. REQUIRES: a buffer
  /// larger than kReplySizeMax.
  [[nodiscard]] Received receive(std::span<std::byte> buffer) noexcept;
  /// Keeps the beginning of a reply for the next `receive`. REQUIRES: at most
  /// kReplySizeMax bytes.
  void keep(std::span<const std::byte> rest) noexcept;

  // While it is undecided: which of the node's addresses is tried, and until when.
  std::size_t first_address = 0;
  std::size_t addresses_tried = 0;
  load::TimePoint decide_by = load::kNever;

 private:
  FileDescriptor fd_;
  std::uint32_t node_;
  State state_ = State::kClosed;
  bool blocked_ = false;
  bool broken_ = false;
  std::size_t capacity_;
  std::unique_ptr<std::byte[]> out_;  ///< Not touched, and so not resident, until used.
  std::size_t sent_ = 0;              ///< Bytes of `out_` that have left.
  std::size_t filled_ = 0;            ///< Bytes of `out_` in use.
  std::size_t kept_ = 0;
  std::array<std::byte, kReplySizeMax> rest_;
};

}  // namespace raftperf::drivers
