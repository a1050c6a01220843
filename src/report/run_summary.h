// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "record/run_record.h"

namespace raftperf::report {

/// A run on at most 80 columns: both judgements with reasons and remedies first, then
/// rate, books, percentiles with the lag beside them, and what they were measured on.
std::string run_summary(const record::RunRecord& record);

}  // namespace raftperf::report
