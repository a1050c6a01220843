// SPDX-License-Identifier: Apache-2.0
#include "drivers/wire/wire_peer.h"

namespace raftperf::drivers {
namespace {

[[maybe_unused]] const bool kRegistered =
    conformance::register_cases("wire_conformance", make_wire_harness);

}  // namespace
}  // namespace raftperf::drivers
