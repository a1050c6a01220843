// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "record/run_record.h"

namespace raftperf::report {

/// One line a run, at most 80 columns wide, with both judgements on each.
std::string run_table(const std::vector<record::RunRecord>& records);

}  // namespace raftperf::report
