// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "drivers/conformance.h"

namespace raftperf::drivers {

/// The wire protocol's side of the conformance suite.
std::unique_ptr<conformance::Harness> make_wire_harness();

}  // namespace raftperf::drivers
