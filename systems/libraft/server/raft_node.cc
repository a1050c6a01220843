// SPDX-License-Identifier: Apache-2.0
#include "systems/libraft/server/raft_node.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/check.h"
#include "net/socket.h"

namespace raftperf::libraft {
namespace {

constexpr std::uint64_t kSnapshotLineEveryMs = 1000;

raft_id id_of(std::size_t node) noexcept { return static_cast<raft_id>(node) + 1; }
std::int32_t node_of(raft_id id) noexcept { return static_cast<std::int32_t>(id) - 1; }

wire::Role role_of(int state) noexcept {
  switch (state) {
    case RAFT_FOLLOWER:
      return wire::Role::kFollower;
    case RAFT_CANDIDATE:
      return wire::Role::kCandidate;
    case RAFT_LEADER:
      return wire::Role::kLeader;
    default:
      return wire::Role::kUnavailable;
  }
}

}  // namespace

struct RaftNode::ApplyRequest {
  struct raft_apply apply {};
  RaftNode* node = nullptr;
};

struct RaftNode::BarrierRequest {
  struct raft_barrier barrier {};
};

RaftNode::RaftNode(uv_loop_t* loop, const Options& options, const Events& events, Owner& owner)
    : options_(options), events_(events), owner_(owner), loop_(loop), transport_(loop) {
  transport_.observe(
      [](void* context, raft_id peer, bool no_delay) {
        const auto* node = static_cast<RaftNode*>(context);
        node->events_.emit("peer_connection", {{"peer", node_of(peer)}, {"no_delay", no_delay}});
      },
      this);
  fsm_.version = 1;
  fsm_.data = this;
  fsm_.apply = [](raft_fsm* fsm, const raft_buffer* entry, void** result) {
    *result = nullptr;
    return static_cast<RaftNode*>(fsm->data)->apply_entry(*entry);
  };
  fsm_.snapshot = [](raft_fsm* fsm, raft_buffer** buffers, unsigned* count) {
    return static_cast<RaftNode*>(fsm->data)->take_snapshot(buffers, count);
  };
  fsm_.restore = [](raft_fsm* fsm, raft_buffer* buffer) {
    return static_cast<RaftNode*>(fsm->data)->restore_snapshot(*buffer);
  };
}

RaftNode::~RaftNode() {
  CHECK(!raft_open_);
  if (io_open_) {
    raft_uv_close(io_.get());
  }
}

Error RaftNode::error_of(const char* what, int code) const {
  const std::string_view detail = raft_.errmsg;
  return Error{
      fmt::format("{}: {}{}{}", what, raft_strerror(code), detail.empty() ? "" : ": ", detail)};
}

Result<void> RaftNode::start(const DataDirectory& directory) {
  // libraft says no more than "I/O error" about a taken port; the kernel says which.
  const net::Endpoint& address = options_.nodes[options_.node];
  if (auto probe = net::listen_on(address.host, address.port); !probe) {
    return Error{fmt::format("raft address {}", probe.error())};
  }
  if (auto opened = open(directory); !opened) {
    return opened;
  }
  if (auto bootstrapped = bootstrap(directory); !bootstrapped) {
    return bootstrapped;
  }
  if (const int code = raft_start(&raft_); code != 0) {
    return error_of("raft_start", code);
  }
  started_ = true;
  return check_configuration(directory);
}

Result<void> RaftNode::open(const DataDirectory& directory) {
  int code = raft_uv_init(io_.get(), loop_, directory.path().c_str(), transport_.get());
  if (code != 0) {
    return Error{fmt::format("--dir: {}: {}", directory.path(), io_.get()->errmsg)};
  }
  io_open_ = true;
  raft_uv_set_segment_size(io_.get(), options_.segment_size);
  raft_uv_set_connect_retry_delay(io_.get(), static_cast<unsigned>(options_.connect_retry.count()));
  io_.install(static_cast<unsigned>(options_.nodes.size()));
  const std::string address = options_.raft_address(options_.node);
  code = raft_init(&raft_, io_.get(), &fsm_, id_of(options_.node), address.c_str());
  if (code != 0) {
    return error_of("raft_init", code);
  }
  raft_open_ = true;
  raft_.data = this;
  raft_set_election_timeout(&raft_, static_cast<unsigned>(options_.election_timeout.count()));
  raft_set_heartbeat_timeout(&raft_, static_cast<unsigned>(options_.heartbeat.count()));
  raft_set_snapshot_threshold(&raft_, options_.snapshot_threshold);
  raft_set_snapshot_trailing(&raft_, options_.snapshot_trailing);
  raft_set_pre_vote(&raft_, options_.pre_vote);
  return {};
}

Result<void> RaftNode::bootstrap(const DataDirectory& directory) {
  if (directory.has_raft_data()) {
    return {};
  }
  if (!options_.bootstrap) {
    return Error{fmt::format("--dir: {} holds no Raft data; add --bootstrap to begin with one",
                             directory.path())};
  }
  raft_configuration configuration;
  raft_configuration_init(&configuration);
  int code = 0;
  for (std::size_t i = 0; i < options_.nodes.size() && code == 0; ++i) {
    code = raft_configuration_add(&configuration, id_of(i), options_.raft_address(i).c_str(),
                                  RAFT_VOTER);
  }
  if (code == 0) {
    code = raft_bootstrap(&raft_, &configuration);
  }
  raft_configuration_close(&configuration);
  return code == 0 ? Result<void>() : error_of("raft_bootstrap", code);
}

Result<void> RaftNode::check_configuration(const DataDirectory& directory) const {
  const raft_configuration& found = raft_.configuration;
  if (found.n == 0) {
    return Error{fmt::format("--dir: {} was never fully bootstrapped; remove it and begin anew",
                             directory.path())};
  }
  bool same = found.n == options_.nodes.size();
  std::string addresses;
  for (unsigned i = 0; i < found.n; ++i) {
    const raft_server& server = found.servers[i];
    same = same && server.id == id_of(i) && server.address == options_.raft_address(i);
    addresses += (i == 0 ? "" : ",") + std::string(server.address);
  }
  if (same) {
    return {};
  }
  return Error{
      fmt::format("--dir: {} belongs to the cluster --nodes {}", directory.path(), addresses)};
}

void RaftNode::close() {
  CHECK(!closing_);
  closing_ = true;
  if (!raft_open_) {
    owner_.closed();
    return;
  }
  raft_close(&raft_, [](raft* raft) {
    auto* node = static_cast<RaftNode*>(raft->data);
    node->raft_open_ = false;
    node->owner_.closed();
  });
}

int RaftNode::propose(std::span<const raft_buffer> entries) {
  if (!is_leader()) {
    return RAFT_NOTLEADER;
  }
  if (idle_requests_.empty()) {
    idle_requests_.push_back(std::make_unique<ApplyRequest>());
  }
  std::unique_ptr<ApplyRequest> request = std::move(idle_requests_.back());
  idle_requests_.pop_back();
  request->node = this;
  request->apply.data = request.get();
  const int code =
      raft_apply(&raft_, &request->apply, entries.data(), static_cast<unsigned>(entries.size()),
                 [](struct raft_apply* apply, int status, void* /*result*/) {
                   auto* done = static_cast<ApplyRequest*>(apply->data);
                   done->node->proposal_done(done, status);
                 });
  if (code == 0) {
    (void)request.release();  // Until its callback, which libraft always makes.
  } else {
    idle_requests_.push_back(std::move(request));
  }
  return code;
}

void RaftNode::proposal_done(ApplyRequest* request, int status) {
  idle_requests_.emplace_back(request);
  if (status == 0) {
    return;  // Once for all its entries; each is answered by `apply_entry`.
  }
  owner_.leadership_lost();
  if (status != RAFT_LEADERSHIPLOST && status != RAFT_SHUTDOWN && status != RAFT_CANCELED) {
    // libraft would go on as leader with a log that differs from its followers'.
    fail(fmt::format("the log could not be written: {}: {}", raft_strerror(status), raft_.errmsg));
  }
}

int RaftNode::transfer(std::int32_t to) {
  if (raft_.state != RAFT_LEADER) {
    return RAFT_NOTLEADER;
  }
  if (to < 0 || static_cast<std::size_t>(to) >= options_.nodes.size()) {
    return RAFT_BADID;
  }
  if (raft_.transfer != nullptr) {
    return RAFT_BUSY;
  }
  if (to == options_.node) {
    return 0;
  }
  events_.emit("transfer", {{"to", to}, {"term", raft_.current_term}});
  return raft_transfer(&raft_, &transfer_, id_of(static_cast<std::size_t>(to)), nullptr);
}

void RaftNode::watch() {
  if (!started_ || closing_) {
    return;
  }
  const Seen now{.role = raft_.state, .term = raft_.current_term, .leader = leader()};
  if (now != seen_) [[unlikely]] {
    seen_ = now;
    events_.emit(
        "role",
        {{"role", wire::to_string(role_of(now.role))}, {"term", now.term}, {"leader", now.leader}});
  }
  if (io_.dropped() != dropped_seen_) [[unlikely]] {
    dropped_seen_ = io_.dropped();
    events_.emit("bad_leader_address_dropped", {{"count", dropped_seen_}});
  }
  if (raft_.state == RAFT_UNAVAILABLE) [[unlikely]] {
    fail(fmt::format("libraft gave up: {}", raft_.errmsg));
  } else if (is_leader() && barrier_term_ != raft_.current_term) [[unlikely]] {
    add_barrier();
  }
}

void RaftNode::add_barrier() {
  auto request = std::make_unique<BarrierRequest>();
  request->barrier.data = request.get();
  const int code = raft_barrier(&raft_, &request->barrier, [](struct raft_barrier* barrier, int) {
    delete static_cast<BarrierRequest*>(barrier->data);
  });
  if (code == 0) {
    (void)request.release();
    barrier_term_ = raft_.current_term;
  }
}

bool RaftNode::is_leader() const noexcept {
  return raft_.state == RAFT_LEADER && raft_.transfer == nullptr;
}

std::int32_t RaftNode::leader() const noexcept {
  switch (raft_.state) {
    case RAFT_LEADER:
      return raft_.transfer != nullptr ? node_of(raft_.transfer->id) : options_.node;
    case RAFT_FOLLOWER:
      return node_of(raft_.follower_state.current_leader.id);
    default:
      return wire::kNoNode;
  }
}

wire::NodeStatus RaftNode::status() const noexcept {
  return {.node = options_.node,
          .role = role_of(raft_.state),
          .leader = leader(),
          .term = raft_.current_term,
          .commit_index = raft_.commit_index,
          .applied_index = raft_.last_applied,
          .operation_count = state_.operation_count(),
          .checksum = state_.checksum(),
          .run_token = options_.run_token};
}

int RaftNode::apply_entry(const raft_buffer& entry) {
  const auto applied = state_.apply({static_cast<const std::byte*>(entry.base), entry.len});
  if (!applied) [[unlikely]] {
    fail(fmt::format("the log entry at {} is none of this server's", raft_.last_applied + 1));
    return RAFT_MALFORMED;
  }
  owner_.applied(*applied, raft_.last_applied + 1);  // libraft counts it afterwards.
  return 0;
}

int RaftNode::take_snapshot(raft_buffer** buffers, unsigned* count) {
  const std::size_t size = state_.snapshot_size();
  auto* buffer = static_cast<raft_buffer*>(raft_malloc(sizeof(raft_buffer)));
  void* memory = raft_malloc(size);
  if (buffer == nullptr || memory == nullptr) {
    raft_free(buffer);
    raft_free(memory);
    return RAFT_NOMEM;
  }
  *buffer = {.base = memory, .len = size};
  state_.write_snapshot({static_cast<std::byte*>(memory), size});
  *buffers = buffer;
  *count = 1;
  ++snapshots_;
  // Under load there are several a second; a line a second says as much.
  if (const std::uint64_t now = uv_now(loop_); now - snapshot_said_ms_ >= kSnapshotLineEveryMs) {
    snapshot_said_ms_ = now;
    events_.emit("snapshot", {{"log_index", raft_.last_applied},
                              {"bytes", size},
                              {"keys", state_.key_count()},
                              {"taken", snapshots_}});
  }
  return 0;
}

int RaftNode::restore_snapshot(raft_buffer& buffer) {
  const auto restored = state_.restore({static_cast<const std::byte*>(buffer.base), buffer.len});
  if (!restored) {
    fail(restored.error());
    return RAFT_MALFORMED;
  }
  events_.emit("restored", {{"bytes", buffer.len}, {"operation_count", state_.operation_count()}});
  raft_free(buffer.base);  // On success it is ours.
  return 0;
}

void RaftNode::fail(std::string why) {
  if (!failure_) {
    failure_ = std::move(why);
  }
}

}  // namespace raftperf::libraft
