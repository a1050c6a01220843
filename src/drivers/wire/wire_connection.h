// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/file_descriptor.h"
#include "wire/cpp/frame.h"

namespace raftperf::drivers {

/// One non-blocking TCP connection of the wire driver: a socket and two fixed buffers.
/// Frames are collected by `reserve` and leave together by `flush`.
class WireConnection {
 public:
  enum class State : std::uint8_t {
    kClosed,
    kConnecting,  ///< The TCP connection is being made.
    kGreeting,    ///< hello is sent; its reply is awaited.
    kReady,
  };

  /// `frame_max`: bytes of the largest request frame.
  explicit WireConnection(std::size_t frame_max);

  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] bool ready() const noexcept { return state_ == State::kReady; }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

  /// Takes over a socket on which `connect` has been started.
  void open(FileDescriptor fd) noexcept;
  /// The TCP connection stands: puts hello into the buffer.
  void greet() noexcept;
  void mark_ready() noexcept { state_ = State::kReady; }
  void close() noexcept;

  /// Room for `size` bytes at the end of what will be sent; null if the buffer is full.
  [[nodiscard]] std::byte* reserve(std::size_t size) noexcept;
  /// Bytes that wait to be sent.
  [[nodiscard]] bool has_output() const noexcept { return sent_ < filled_; }

  enum class Io : std::uint8_t { kDone, kWouldBlock, kLost };
  /// Sends what it can with one system call.
  [[nodiscard]] Io flush() noexcept;
  /// Receives what is there with one system call, behind what is not yet parsed.
  /// kDone: the buffer was not filled, so the socket is empty for now.
  [[nodiscard]] Io receive(bool& more) noexcept;
  /// What has been received and not yet consumed.
  [[nodiscard]] std::span<const std::byte> input() const noexcept {
    return std::span(in_).subspan(parsed_, received_ - parsed_);
  }
  void consume(std::size_t bytes) noexcept { parsed_ += bytes; }

 private:
  FileDescriptor fd_;
  State state_ = State::kClosed;
  std::vector<std::byte> out_;
  std::size_t sent_ = 0;    ///< Bytes of `out_` that have left.
  std::size_t filled_ = 0;  ///< Bytes of `out_` in use.
  std::vector<std::byte> in_;
  std::size_t parsed_ = 0;
  std::size_t received_ = 0;
};

}  // namespace raftperf::drivers
