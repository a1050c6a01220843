// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/port_block.h"

#include <random>

#include "base/check.h"
#include "net/socket.h"

namespace raftperf::e2e {
namespace {

// Below the ports that Linux gives to outgoing connections (from 32768).
constexpr int kFirst = 20000;
constexpr int kSize = 200;
constexpr int kBlocks = 60;
constexpr int kNodesMax = 10;
constexpr int kTries = 1000;

bool is_free(int port) {
  return net::listen_on("127.0.0.1", static_cast<std::uint16_t>(port)).ok();
}

}  // namespace

PortBlock::PortBlock() {
  std::random_device random;
  for (int i = 0; i < kTries; ++i) {
    const int base = kFirst + kSize * static_cast<int>(random() % kBlocks);
    auto owner = net::listen_on("127.0.0.1", static_cast<std::uint16_t>(base + kSize - 1));
    bool all_free = owner.ok();
    for (int node = 0; node < kNodesMax && all_free; ++node) {
      all_free = is_free(base + node) && is_free(base + PortBlock::kPeersOffset + node);
    }
    if (all_free) {
      base_ = static_cast<std::uint16_t>(base);
      owner_ = *std::move(owner);
      return;
    }
  }
  CHECK(base_ != 0);
}

}  // namespace raftperf::e2e
