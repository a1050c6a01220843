// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace raftperf::bench {

/// Runs the wire driver against the stub in another process, with the rig around it, and
/// prints what it measured beside its goals. Judges nothing: a number depends on what
/// else the machine does, a ratio of two rows of one run much less. Returns whether the
/// stub could be started.
bool print_wire_table();

/// The closed loop at the full rate alone, against a stub at `endpoint`.
bool run_profile_row(const std::string& endpoint);

/// A minute at the full rate: the resident size after 10 s and at the end.
bool print_memory_table();

}  // namespace raftperf::bench
