// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "load/books.h"
#include "load/judgement.h"
#include "load/summary.h"

namespace raftperf::record {

using Json = nlohmann::ordered_json;

/// Raised when a field changes its name, place or meaning.
inline constexpr int kRecordVersion = 1;
/// Raised by any change of the program that can move a number.
inline constexpr int kMeasurementVersion = 1;

/// A resolved option and where its value came from.
struct OptionRecord {
  std::string name;
  std::string value;
  std::string source;  ///< flag, environment, file, system or default.
};

/// A histogram as numbers, in ns. Absent values were not measured.
struct LatencyRecord {
  std::array<std::optional<std::int64_t>, load::kQuantiles.size()> quantiles{};
  std::optional<std::int64_t> max;
  std::optional<double> mean;
  std::uint64_t count = 0;
  std::vector<std::string> thin;  ///< Percentiles with fewer than ten samples beyond them.
};

/// The percentiles of a histogram; absent for one that does not apply.
LatencyRecord summarize(const load::Histogram& histogram);

struct FindingRecord {
  std::string code;
  double measured = 0;
  double limit = 0;
  std::string unit;
  std::string remedy;
};

struct JudgementRecord {
  std::string status;
  std::vector<FindingRecord> reasons;
};

struct WindowRecord {
  std::string start_utc;
  double warmup_s = 0;
  double measure_s = 0;
  double drain_s = 0;
  std::optional<double> offered_per_s;  ///< Open loop only.
  double achieved_per_s = 0;
  bool interrupted = false;
};

struct ClientRecord {
  std::uint32_t workers = 0;
  std::string pace;
  double busy_share = 0;
  double cpu_us_per_operation = 0;
  std::uint32_t connections_asked = 0;
  std::uint32_t connections_at_start = 0;
  std::uint32_t connections_at_end = 0;
  std::optional<double> frames_per_send;
  std::optional<double> frames_per_receive;
  std::uint64_t protocol_errors = 0;
};

/// This driver against a server that does nothing, just before the run: what no system
/// could be seen to do better than.
struct FloorRecord {
  std::optional<std::int64_t> service_p50_ns;  ///< One outstanding.
  std::optional<double> rate_max_per_s;        ///< As many outstanding as the run allows.
};

struct EventRecord {
  double at_s = 0;  ///< Since the start of the window; negative before.
  std::optional<int> node;
  std::string code;
  std::string detail;
  bool planned = false;
};

struct ClusterRecord {
  std::vector<std::string> nodes;
  std::optional<int> leader_at_start;
  std::optional<int> leader_at_end;
  std::optional<std::uint64_t> term_at_start;
  std::optional<std::uint64_t> term_at_end;
  std::uint64_t leader_changes = 0;
  std::string placement;
  std::vector<std::optional<double>> server_cpu_share;  ///< Of one core, in the window, per node.
  std::vector<EventRecord> events;
};

/// After the run: does the cluster hold what it acknowledged?
struct VerificationRecord {
  std::string status;  ///< passed, failed or not_done.
  std::string detail;
  std::optional<std::uint64_t> applied;  ///< Operations the leader applied during the run.
  std::uint64_t acknowledged = 0;        ///< Whole run, warm-up included.
  std::uint64_t unknown = 0;
  std::optional<std::uint64_t> missing;  ///< Acknowledged and not applied.
};

/// One run: the only artefact that analysis and report read. docs/RECORD_FORMAT.md.
struct RunRecord {
  std::string raftperf_version;
  std::string system;
  std::string driver;
  std::string mode;
  std::string profile;
  std::string durability;
  std::optional<std::uint32_t> request_bytes;
  std::vector<OptionRecord> options;
  WindowRecord window;
  load::Books books;
  load::Books warmup_books;
  load::Counts counts;
  std::uint64_t late_replies = 0;
  LatencyRecord response;
  LatencyRecord service;
  LatencyRecord lag;
  LatencyRecord burst_lag;
  LatencyRecord held;
  LatencyRecord turn_gap;
  /// Every operation that was not ok counted as infinitely slow; absent is infinite.
  std::array<std::optional<std::int64_t>, load::kQuantiles.size()> if_lost_were_infinite{};
  std::optional<double> little_ratio;
  std::optional<double> in_flight_mean;
  FloorRecord floor;
  ClientRecord client;
  JudgementRecord rig;
  JudgementRecord load;
  ClusterRecord cluster;
  VerificationRecord verification;
  Json environment;

  /// Fills everything that the rig itself knows.
  void take(const load::Summary& summary, const load::RigJudgement& rig_judgement,
            const load::LoadJudgement& load_judgement);
};

Json to_json(const RunRecord& record);

/// Reads what `to_json` wrote. A missing or mistyped field is an error that names it; a
/// newer record_version is refused.
Result<RunRecord> from_json(const Json& json);

}  // namespace raftperf::record
