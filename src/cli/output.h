// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace raftperf::cli {

/// How a command's result is printed.
enum class Output { kText, kJson };

}  // namespace raftperf::cli
