// SPDX-License-Identifier: Apache-2.0
#include "drivers/scripted_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "net/socket.h"

namespace raftperf::drivers::conformance {

std::unique_ptr<ScriptedServer> ScriptedServer::start(const std::string& host,
                                                      std::optional<Answer> answer,
                                                      MakeCodec make_codec) {
  auto listener = net::listen_on(host, 0);
  if (!listener) {
    return nullptr;
  }
  std::unique_ptr<ScriptedServer> server(new ScriptedServer);
  server->endpoint_ = {.host = host, .port = net::bound_port(listener->get())};
  server->make_codec_ = std::move(make_codec);
  server->wake_.reset(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  server->listener_ = *std::move(listener);
  server->answer_all_ = answer;
  server->thread_ = std::thread([pointer = server.get()] { pointer->serve(); });
  return server;
}

ScriptedServer::~ScriptedServer() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake();
  thread_.join();
}

void ScriptedServer::wake() noexcept { (void)::eventfd_write(wake_.get(), 1); }

void ScriptedServer::serve() {
  while (true) {
    std::vector<pollfd> waiting;
    {
      const std::lock_guard lock(mutex_);
      if (ending_) {
        return;
      }
      waiting.push_back({.fd = wake_.get(), .events = POLLIN, .revents = 0});
      waiting.push_back({.fd = listener_.get(), .events = POLLIN, .revents = 0});
      for (const Connection& connection : connections_) {
        const int events = (frozen_ ? 0 : POLLIN) | (connection.output.empty() ? 0 : POLLOUT);
        // A frozen server does not see a hang-up either.
        waiting.push_back({.fd = events == 0 ? -1 : connection.fd.get(),
                           .events = static_cast<short>(events),
                           .revents = 0});
      }
    }
    (void)::poll(waiting.data(), waiting.size(), -1);
    eventfd_t ignored = 0;
    (void)::eventfd_read(wake_.get(), &ignored);
    const std::lock_guard lock(mutex_);
    accept_all();
    for (std::size_t at = 0; at < connections_.size(); ++at) {
      flush(connections_[at]);
      if (!frozen_) {
        receive(at);
      }
    }
  }
}

void ScriptedServer::accept_all() {
  while (listener_.valid()) {
    FileDescriptor fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd.valid()) {
      return;
    }
    net::set_no_delay(fd.get());
    connections_.push_back(
        {.fd = std::move(fd), .codec = make_codec_(), .input = {}, .output = {}});
  }
}

void ScriptedServer::receive(std::size_t at) {
  Connection& connection = connections_[at];
  while (connection.fd.valid()) {
    std::array<std::byte, 65536> room;
    const ssize_t got = ::recv(connection.fd.get(), room.data(), room.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) {
      break;
    }
    if (got <= 0) {
      connection.fd.reset();
      break;
    }
    connection.input.insert(connection.input.end(), room.begin(), room.begin() + got);
    handle_input(at);
  }
}

void ScriptedServer::handle_input(std::size_t at) {
  Connection& connection = connections_[at];
  std::size_t used = 0;
  Bytes out;
  while (true) {
    const auto parsed = connection.codec->parse(std::span(connection.input).subspan(used), out);
    if (parsed.size == 0) {
      break;
    }
    used += parsed.size;
    if (!parsed.request) {
      continue;
    }
    bytes_received_ += parsed.size;
    requests_.push_back(*parsed.request);
    requests_.back().connection = at;
    if (answer_all_) {
      connection.codec->encode(requests_.back(), *answer_all_, out);
    }
  }
  connection.input.erase(connection.input.begin(),
                         connection.input.begin() + static_cast<std::ptrdiff_t>(used));
  put(at, out);
}

void ScriptedServer::put(std::size_t at, std::span<const std::byte> bytes) {
  Connection& connection = connections_[at];
  connection.output.insert(connection.output.end(), bytes.begin(), bytes.end());
  flush(connection);
}

void ScriptedServer::flush(Connection& connection) {
  if (!connection.fd.valid() || connection.output.empty()) {
    return;
  }
  const ssize_t sent = ::send(connection.fd.get(), connection.output.data(),
                              connection.output.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent > 0) {
    connection.output.erase(connection.output.begin(), connection.output.begin() + sent);
  } else if (errno != EAGAIN) {
    connection.fd.reset();
  }
}

void ScriptedServer::answer_all(std::optional<Answer> answer) {
  const std::lock_guard lock(mutex_);
  answer_all_ = answer;
}

std::vector<Request> ScriptedServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void ScriptedServer::answer(std::span<const Request> requests, const Answer& answer) {
  const std::lock_guard lock(mutex_);
  for (const Request& request : requests) {
    Bytes bytes;
    connections_[request.connection].codec->encode(request, answer, bytes);
    put(request.connection, bytes);
  }
  wake();
}

std::uint64_t ScriptedServer::bytes_received() const {
  const std::lock_guard lock(mutex_);
  return bytes_received_;
}

void ScriptedServer::freeze(bool frozen) {
  const std::lock_guard lock(mutex_);
  frozen_ = frozen;
  wake();
}

std::size_t ScriptedServer::connections() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::count_if(connections_.begin(), connections_.end(),
                                                [](const auto& each) { return each.fd.valid(); }));
}

void ScriptedServer::drop_connections(std::size_t count) {
  const std::lock_guard lock(mutex_);
  for (Connection& connection : connections_) {
    if (count > 0 && connection.fd.valid()) {
      // Not merely closed: the thread may be waiting on it, which keeps it open.
      (void)::shutdown(connection.fd.get(), SHUT_RDWR);
      connection.fd.reset();
      --count;
    }
  }
  wake();
}

void ScriptedServer::listen(bool listening) {
  const std::lock_guard lock(mutex_);
  // What was not accepted yet would be reset later, at an instant of its own.
  accept_all();
  listener_.reset();
  if (listening) {
    if (auto listener = net::listen_on(endpoint_.host, endpoint_.port)) {
      listener_ = *std::move(listener);
    }
  }
  wake();
}

Bytes ScriptedServer::encode(const Request& request, const Answer& answer) {
  const std::lock_guard lock(mutex_);
  Bytes bytes;
  connections_[request.connection].codec->encode(request, answer, bytes);
  return bytes;
}

Bytes ScriptedServer::malformed(const Request& request) {
  const std::lock_guard lock(mutex_);
  return connections_[request.connection].codec->malformed(request);
}

void ScriptedServer::send(std::size_t connection, std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  put(connection, bytes);
  wake();
}

}  // namespace raftperf::drivers::conformance
