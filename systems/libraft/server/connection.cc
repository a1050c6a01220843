// SPDX-License-Identifier: Apache-2.0
#include "systems/libraft/server/connection.h"

#include <cstring>

#include "base/check.h"

namespace raftperf::libraft {
namespace {

constexpr std::size_t kKeptCapacityMax = 1U << 20U;

Connection& connection_of(void* data) noexcept { return *static_cast<Connection*>(data); }

}  // namespace

Connection::Connection(uv_loop_t* loop, ConnectionId id, const Settings& settings, Owner& owner)
    : id_(id), owner_(owner), output_max_(settings.output_max), session_(settings.identity) {
  CHECK_EQ(uv_tcp_init(loop, &handle_), 0);
  handle_.data = this;
  write_.data = this;
}

bool Connection::accept(uv_stream_t* listener) {
  if (uv_accept(listener, stream()) != 0) {
    close();
    return false;
  }
  (void)uv_tcp_nodelay(&handle_, 1);
  start_reading();
  return true;
}

void Connection::start_reading() {
  const int code = uv_read_start(
      stream(),
      [](uv_handle_t* handle, std::size_t /*suggested*/, uv_buf_t* buffer) {
        Connection& self = connection_of(handle->data);
        const std::span<std::byte> room = self.owner_.read_buffer();
        // What is left of an unfinished frame goes in front of what comes.
        if (!self.rest_.empty()) {
          std::memcpy(room.data(), self.rest_.data(), self.rest_.size());
        }
        const std::span<std::byte> free = room.subspan(self.rest_.size());
        *buffer =
            uv_buf_init(reinterpret_cast<char*>(free.data()), static_cast<unsigned>(free.size()));
      },
      [](uv_stream_t* stream, ssize_t length, const uv_buf_t* buffer) {
        connection_of(stream->data).received(length, buffer);
      });
  if (code != 0) {
    close();
  }
}

void Connection::received(ssize_t length, const uv_buf_t* buffer) {
  if (length == 0) {
    return;
  }
  if (length < 0) {
    ended(length);
    return;
  }
  if (finishing_) {
    return;
  }
  const auto* begin = reinterpret_cast<const std::byte*>(buffer->base) - rest_.size();
  const std::span<const std::byte> bytes(begin, rest_.size() + static_cast<std::size_t>(length));
  const std::size_t used = consume(bytes);
  rest_.assign(bytes.begin() + static_cast<std::ptrdiff_t>(used), bytes.end());
}

std::size_t Connection::consume(std::span<const std::byte> bytes) {
  const auto done = session_.consume(bytes, out_, [this](const wire::Frame& request) {
    owner_.request(*this, request);
    if (doomed_) {
      return wire::After::kClose;
    }
    return unsent() > output_max_ ? wire::After::kPause : wire::After::kContinue;
  });
  if (!out_.empty()) {
    mark();
  }
  if (!done.malformed_reason.empty()) {
    owner_.malformed(*this, done.malformed_reason);
  }
  if (done.close) {
    doom();
  } else if (unsent() > output_max_) {
    paused_ = true;
    (void)uv_read_stop(stream());
  }
  return done.bytes;
}

void Connection::ended(ssize_t code) {
  ended_ = true;
  (void)uv_read_stop(stream());
  if (code != UV_EOF || fin_sent_) {
    close();
    return;
  }
  mark();  // A client that only stopped sending still gets its answers.
}

std::vector<std::byte>& Connection::reply() {
  mark();
  return out_;
}

void Connection::mark() {
  if (!marked_ && !closing_) {
    marked_ = true;
    owner_.dirty(*this);
  }
}

void Connection::doom() {
  doomed_ = true;
  if (!closing_) {
    (void)uv_read_stop(stream());
  }
  mark();
}

void Connection::finish() {
  finishing_ = true;
  rest_.clear();
  if (paused_ && !closing_ && !ended_) {
    paused_ = false;
    start_reading();
  }
  mark();
}

void Connection::close() {
  if (closing_) {
    return;
  }
  closing_ = true;
  uv_close(reinterpret_cast<uv_handle_t*>(&handle_), [](uv_handle_t* handle) {
    Connection& self = connection_of(handle->data);
    self.owner_.closed(self);
  });
}

void Connection::flush() {
  marked_ = false;
  if (closing_) {
    return;
  }
  if (!send()) {
    close();
    return;
  }
  settle();
}

bool Connection::send() {
  if (out_.empty() || !writing_.empty()) {
    return true;  // libuv is still writing; its callback comes back here.
  }
  uv_buf_t buffer =
      uv_buf_init(reinterpret_cast<char*>(out_.data()), static_cast<unsigned>(out_.size()));
  const int sent = uv_try_write(stream(), &buffer, 1);
  if (sent < 0 && sent != UV_EAGAIN) {
    return false;
  }
  const std::size_t done = sent < 0 ? 0 : static_cast<std::size_t>(sent);
  if (done == out_.size()) {
    out_.clear();
    if (out_.capacity() > kKeptCapacityMax) {
      out_.shrink_to_fit();
    }
    return true;
  }
  writing_.swap(out_);
  buffer = uv_buf_init(reinterpret_cast<char*>(writing_.data()) + done,
                       static_cast<unsigned>(writing_.size() - done));
  return uv_write(&write_, stream(), &buffer, 1, [](uv_write_t* request, int status) {
           Connection& self = connection_of(request->data);
           self.writing_.clear();
           if (status != 0) {
             self.close();
           } else {
             self.mark();
           }
         }) == 0;
}

void Connection::settle() {
  if (doomed_) {
    close();
    return;
  }
  if (unsent() > 0) {
    return;
  }
  if (outstanding_ == 0 && ended_) {
    close();
  } else if (outstanding_ == 0 && finishing_ && !fin_sent_) {
    fin_sent_ = true;
    if (uv_shutdown(&shutdown_, stream(), [](uv_shutdown_t*, int) {}) != 0) {
      close();
    }
  } else if (paused_ && !ended_) {
    resume();
  }
}

void Connection::resume() {
  paused_ = false;
  const std::size_t used = consume(rest_);
  rest_.erase(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(used));
  if (!paused_ && !doomed_ && !closing_) {
    start_reading();
  }
}

}  // namespace raftperf::libraft
