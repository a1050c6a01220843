// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/file_descriptor.h"

namespace raftperf::e2e {

/// Ports for one local cluster (a base and what lies up to 120 above it), free when
/// taken, and of no other test that runs meanwhile: who listens on a block's last port
/// has the block.
class PortBlock {
 public:
  static constexpr int kPeersOffset = 100;  ///< systems/libraft: raft = client + 100.

  PortBlock();
  [[nodiscard]] std::uint16_t base() const noexcept { return base_; }

 private:
  std::uint16_t base_ = 0;
  FileDescriptor owner_;
};

}  // namespace raftperf::e2e
