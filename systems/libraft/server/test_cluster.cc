// SPDX-License-Identifier: Apache-2.0
#include "systems/libraft/server/test_cluster.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "net/socket.h"

namespace raftperf::libraft {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPollMs = 10;
constexpr std::chrono::milliseconds kAnswerTimeout{2000};

int patience_left_ms(Clock::time_point end) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
  return static_cast<int>(std::max<std::int64_t>(0, left.count()));
}

[[noreturn]] void run_server(const ServerProcess::Start& start, int output, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) {
    ::_exit(126);  // The test is gone already.
  }
  if (start.descriptors_max) {
    const rlimit limit{.rlim_cur = *start.descriptors_max, .rlim_max = *start.descriptors_max};
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  const int log = ::open(start.error_log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  std::vector<char*> arguments;
  std::string program = RAFTPERF_LIBRAFT_SERVER;
  arguments.push_back(program.data());
  for (const std::string& argument : start.arguments) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  ::_exit(127);
}

}  // namespace

bool eventually(const std::function<bool()>& is_so) {
  const auto end = Clock::now() + kPatience;
  while (!is_so()) {
    if (Clock::now() >= end) {
      return false;
    }
    ::poll(nullptr, 0, kPollMs);
  }
  return true;
}

std::vector<std::uint16_t> free_ports(std::size_t count) {
  std::vector<FileDescriptor> held;  // Together, so that no port comes twice.
  std::vector<std::uint16_t> ports;
  for (std::size_t i = 0; i < count; ++i) {
    auto fd = net::listen_on("127.0.0.1", 0);
    ports.push_back(net::bound_port(fd->get()));
    held.push_back(std::move(*fd));
  }
  return ports;
}

TemporaryDirectory::TemporaryDirectory() {
  const bool has_shm = std::filesystem::is_directory("/dev/shm");
  path_ = (has_shm ? std::string("/dev/shm/") : ::testing::TempDir()) + "raftperf-test-XXXXXX";
  EXPECT_NE(::mkdtemp(path_.data()), nullptr);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

ServerProcess::ServerProcess(const Start& start) {
  int pipe_ends[2] = {-1, -1};
  EXPECT_EQ(::pipe2(pipe_ends, O_CLOEXEC), 0);
  output_.reset(pipe_ends[0]);
  const FileDescriptor child_output(pipe_ends[1]);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {
    run_server(start, child_output.get(), parent);
  }
}

ServerProcess::~ServerProcess() {
  if (pid_ > 0 && !exit_status_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

std::string ServerProcess::ready_line() {
  const auto end = Clock::now() + kPatience;
  std::string line;
  for (;;) {
    pollfd readable{.fd = output_.get(), .events = POLLIN, .revents = 0};
    char next = 0;
    if (::poll(&readable, 1, patience_left_ms(end)) <= 0 || ::read(output_.get(), &next, 1) != 1) {
      return {};
    }
    if (next == '\n') {
      return line;
    }
    line += next;
  }
}

void ServerProcess::signal(int number) const { ::kill(pid_, number); }

std::optional<int> ServerProcess::wait_for_exit() {
  (void)eventually([this] {
    int status = 0;
    if (!exit_status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
      exit_status_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
    return exit_status_.has_value();
  });
  return exit_status_;
}

TestCluster::TestCluster(std::size_t nodes, std::vector<std::string> options)
    : client_ports_(free_ports(2 * nodes)), options_(std::move(options)), processes_(nodes) {
  const auto half = client_ports_.begin() + static_cast<std::ptrdiff_t>(nodes);
  raft_ports_.assign(half, client_ports_.end());
  client_ports_.resize(nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    start(i);
  }
}

std::vector<std::string> TestCluster::arguments(std::size_t node) const {
  std::string nodes;
  for (const std::uint16_t port : raft_ports_) {
    nodes += fmt::format("{}127.0.0.1:{}", nodes.empty() ? "" : ",", port);
  }
  std::vector<std::string> arguments = {"--node",      std::to_string(node),
                                        "--nodes",     nodes,
                                        "--listen",    net::to_string(client_endpoint(node)),
                                        "--dir",       directory(node),
                                        "--bootstrap", "--election-timeout",
                                        "300ms",       "--heartbeat",
                                        "30ms",        "--run-token",
                                        "77"};
  arguments.insert(arguments.end(), options_.begin(), options_.end());
  return arguments;
}

void TestCluster::start(std::size_t node) {
  processes_[node].reset();
  processes_[node] = std::make_unique<ServerProcess>(ServerProcess::Start{
      .arguments = arguments(node), .error_log = error_log(node), .descriptors_max = {}});
  EXPECT_NE(processes_[node]->ready_line(), "") << errors(node);
}

void TestCluster::kill(std::size_t node) {
  processes_[node]->signal(SIGKILL);
  EXPECT_EQ(processes_[node]->wait_for_exit(), -SIGKILL);
}

net::Endpoint TestCluster::client_endpoint(std::size_t node) const {
  return {.host = "127.0.0.1", .port = client_ports_.at(node)};
}

std::string TestCluster::directory(std::size_t node) const {
  return fmt::format("{}/node{}", directory_.path(), node);
}

std::string TestCluster::error_log(std::size_t node) const {
  return fmt::format("{}/node{}.err", directory_.path(), node);
}

std::string TestCluster::errors(std::size_t node) const {
  std::ostringstream text;
  text << std::ifstream(error_log(node)).rdbuf();
  return text.str();
}

std::optional<wire::NodeStatus> TestCluster::status(std::size_t node) const {
  auto client = wire::Client::connect(client_endpoint(node), kAnswerTimeout);
  if (!client) {
    return std::nullopt;
  }
  auto reply = client->status(kAnswerTimeout);
  return reply ? std::optional(reply->node_status) : std::nullopt;
}

std::size_t TestCluster::wait_for_leader() {
  std::size_t leader = 0;
  const std::byte payload{1};
  const bool found = eventually([&] {
    for (leader = 0; leader < processes_.size(); ++leader) {
      const auto said = status(leader);
      if (!said || said->role != wire::Role::kLeader) {
        continue;
      }
      auto client = wire::Client::connect(client_endpoint(leader), kAnswerTimeout);
      if (!client) {
        continue;
      }
      const auto reply = client->append({&payload, 1}, kAnswerTimeout);
      if (reply && reply->status == wire::Status::kOk) {
        return true;
      }
    }
    return false;
  });
  EXPECT_TRUE(found) << "no leader";
  return found ? leader : 0;
}

bool TestCluster::agree(std::uint64_t operation_count_min) const {
  return eventually([&] {
    const auto first = status(0);
    if (!first || first->operation_count < operation_count_min) {
      return false;
    }
    for (std::size_t node = 1; node < processes_.size(); ++node) {
      const auto other = status(node);
      if (!other || other->operation_count != first->operation_count ||
          other->checksum != first->checksum) {
        return false;
      }
    }
    return true;
  });
}

wire::Client TestCluster::connect(std::size_t node) const {
  auto client = wire::Client::connect(client_endpoint(node), kPatience);
  EXPECT_TRUE(client.ok()) << (client.ok() ? "" : client.error());
  return std::move(client).value();
}

PipelinedClient::PipelinedClient(const net::Endpoint& endpoint) {
  auto connected = net::connect_to(endpoint, kPatience);
  EXPECT_TRUE(connected.ok());
  socket_ = std::move(*connected);
  std::vector<std::byte> hello(12);
  wire::put(hello.data(), wire::HelloRequest{});
  add(wire::Kind::kHello, 0, hello);
}

void PipelinedClient::add(wire::Kind kind, std::uint64_t id, std::span<const std::byte> body) {
  const std::size_t at = out_.size();
  out_.resize(at + wire::kHeaderSize);
  wire::put_request_header(out_.data() + at, kind, id, static_cast<std::uint32_t>(body.size()));
  add_bytes(body);
}

void PipelinedClient::add_append(std::uint64_t id, std::size_t length) {
  add(wire::Kind::kAppend, id, std::vector<std::byte>(length, std::byte{0x5a}));
}

void PipelinedClient::add_bytes(std::span<const std::byte> bytes) {
  out_.insert(out_.end(), bytes.begin(), bytes.end());
}

std::size_t PipelinedClient::send_some() {
  const std::span<const std::byte> left = std::span(out_).subspan(out_used_);
  const ssize_t sent = ::send(socket_.get(), left.data(), left.size(), MSG_NOSIGNAL);
  out_used_ += sent > 0 ? static_cast<std::size_t>(sent) : 0;
  return out_.size() - out_used_;
}

bool PipelinedClient::send() {
  const auto end = Clock::now() + kPatience;
  while (out_used_ < out_.size()) {
    const std::size_t before = out_.size() - out_used_;
    if (send_some() < before) {
      continue;
    }
    pollfd writable{.fd = socket_.get(), .events = POLLOUT, .revents = 0};
    if (errno != EAGAIN || ::poll(&writable, 1, patience_left_ms(end)) <= 0) {
      return false;
    }
  }
  return true;
}

std::optional<PipelinedClient::Reply> PipelinedClient::receive() {
  const auto end = Clock::now() + kPatience;
  std::vector<std::byte> piece(1U << 16U);
  for (;;) {
    const auto parsed = wire::parse_frame(std::span(in_).subspan(in_used_));
    if (parsed.result == wire::ParseResult::kMalformed) {
      ADD_FAILURE() << parsed.reason;
      return std::nullopt;
    }
    if (parsed.result == wire::ParseResult::kFrame) {
      in_used_ += parsed.frame_size;
      const wire::Frame& frame = parsed.frame;
      EXPECT_TRUE(frame.is_reply);
      if (frame.kind == wire::Kind::kHello) {
        continue;
      }
      return Reply{.kind = frame.kind,
                   .status = frame.status,
                   .id = frame.correlation_id,
                   .body = {frame.body.begin(), frame.body.end()}};
    }
    in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(in_used_));
    in_used_ = 0;
    pollfd readable{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&readable, 1, patience_left_ms(end)) <= 0) {
      return std::nullopt;
    }
    const ssize_t length = ::read(socket_.get(), piece.data(), piece.size());
    if (length <= 0) {
      closed_ = true;
      return std::nullopt;
    }
    in_.insert(in_.end(), piece.begin(), piece.begin() + length);
  }
}

void PipelinedClient::shut_down() { ::shutdown(socket_.get(), SHUT_WR); }

}  // namespace raftperf::libraft
