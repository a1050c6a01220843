// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace raftperf::load {

enum class OperationKind : std::uint8_t {
  kAppend,         ///< An opaque payload of `value_size` bytes through the log.
  kCompareAndSet,  ///< `key` becomes `value` if it is `expected`.
  kSet,            ///< `key` becomes a payload of `value_size` bytes.
  kEcho,           ///< A payload of `value_size` bytes comes back.
};

/// Names one attempt of one operation on its worker: the slot it occupies and how
/// often that slot has been used. Drivers carry `bits` as a correlation id.
class OperationId {
 public:
  static constexpr unsigned kSlotBits = 22;
  static constexpr std::uint32_t kSlotsMax = 1U << kSlotBits;

  OperationId() = default;
  explicit constexpr OperationId(std::uint64_t bits) noexcept : bits_(bits) {}
  constexpr OperationId(std::uint32_t slot, std::uint64_t generation) noexcept
      : bits_((generation << kSlotBits) | slot) {}

  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }
  [[nodiscard]] constexpr std::uint32_t slot() const noexcept {
    return static_cast<std::uint32_t>(bits_ & (kSlotsMax - 1));
  }
  friend constexpr bool operator==(OperationId, OperationId) noexcept = default;

 private:
  std::uint64_t bits_ = 0;
};

/// What a driver is asked to send. Valid until `submit` returns.
struct Operation {
  OperationId id;
  OperationKind kind = OperationKind::kAppend;
  std::uint32_t node = 0;        ///< Index of the node to send it to.
  std::uint32_t lane = 0;        ///< Operations of one lane belong on one connection.
  std::uint32_t value_size = 0;  ///< Bytes of the payload, where the kind has one.
  std::uint64_t key = 0;
  std::uint64_t expected = 0;
  std::uint64_t value = 0;  ///< The new value, or the seed of the payload.
};

/// Writes the operation's payload: `out.size()` bytes that depend on nothing but
/// `operation.value`, so that a reader can recompute them.
void write_payload(const Operation& operation, std::span<std::byte> out) noexcept;

/// How an operation ended, as the client can know it. A write whose fate is unknown
/// is never counted as failed: it may have been committed.
enum class Outcome : std::uint8_t {
  kOk,        ///< Answered; for a write, committed by the cluster.
  kRejected,  ///< Answered: certainly not applied.
  kUnknown,   ///< Connection lost or deadline passed; may have been applied.
};

enum class Reason : std::uint8_t {
  kOk,
  kMismatch,     ///< Outcome ok: a compare-and-set was committed and did not compare equal.
  kNotLeader,    ///< Rejected; `leader_hint` may name the leader.
  kBusy,         ///< Rejected before it reached the log.
  kApplyFailed,  ///< Rejected by the state machine.
  kError,        ///< Rejected with an error text.
  kTimeout,      ///< Unknown: the deadline passed.
  kLost,         ///< Unknown: the connection was lost.
};
inline constexpr std::size_t kReasonCount = 8;

std::string_view to_string(Outcome outcome) noexcept;
std::string_view to_string(Reason reason) noexcept;
std::string_view to_string(OperationKind kind) noexcept;

inline constexpr int kNoNode = -1;

/// One answer, as a driver reports it.
struct Completion {
  OperationId id;
  Outcome outcome = Outcome::kOk;
  Reason reason = Reason::kOk;
  std::uint64_t value = 0;    ///< The key's value now, after an ok or a mismatch.
  int leader_hint = kNoNode;  ///< What a rejecting node named as leader.
};

}  // namespace raftperf::load
