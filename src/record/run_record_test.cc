// SPDX-License-Identifier: Apache-2.0
#include "record/run_record.h"

#include <gtest/gtest.h>

namespace raftperf::record {
namespace {

LatencyRecord latency(std::int64_t base) {
  return {.quantiles = {base, base + 1, base + 2, base + 3, base + 4},
          .max = base + 5,
          .mean = static_cast<double>(base) + 0.5,
          .count = static_cast<std::uint64_t>(base) + 6,
          .thin = {"p99_9", "p99_99"}};
}

ClusterRecord full_cluster() {
  return {
      .nodes = {"127.0.0.1:9100", "127.0.0.1:9101"},
      .leader_at_start = 2,
      .leader_at_end = 1,
      .term_at_start = 41,
      .term_at_end = 42,
      .leader_changes = 43,
      .placement = "somewhere",
      .server_cpu_share = {0.5, std::nullopt},
      .events = {
          {.at_s = -1.5, .node = 1, .code = "node_exited", .detail = "signal 9", .planned = true},
          {.at_s = 2.5, .node = std::nullopt, .code = "x", .detail = "", .planned = false}}};
}

/// Every field differs from its default and from its neighbours.
RunRecord full() {
  RunRecord record;
  record.raftperf_version = "0.1.0";
  record.system = "libraft";
  record.driver = "wire";
  record.mode = "open";
  record.profile = "native";
  record.durability = "fsync";
  record.request_bytes = 76;
  record.options = {{"rate", "5000", "flag"}, {"burst", "1", "default"}};
  record.window = {.start_utc = "2026-12-01T14:36:57.123Z",
                   .warmup_s = 10.25,
                   .measure_s = 30.5,
                   .drain_s = 5.75,
                   .offered_per_s = 5000.5,
                   .achieved_per_s = 4999.5,
                   .interrupted = true};
  record.books = {.scheduled = 1,
                  .sent = 2,
                  .dropped = {3, 4, 5, 6},
                  .ok = 7,
                  .rejected = 8,
                  .unknown = {9, 10, 11}};
  record.warmup_books = {.scheduled = 12,
                         .sent = 13,
                         .dropped = {14, 15, 16, 17},
                         .ok = 18,
                         .rejected = 19,
                         .unknown = {20, 21, 22}};
  record.counts = {.attempts = 23,
                   .redirects = 24,
                   .mismatches = 25,
                   .at_cap = 26,
                   .rejected_by = {0, 0, 27, 28, 29, 30, 0, 0}};
  record.late_replies = 31;
  record.response = latency(1000);
  record.service = latency(2000);
  record.lag = latency(3000);
  record.burst_lag = latency(4000);
  record.held = latency(5000);
  record.turn_gap = latency(6000);
  record.if_lost_were_infinite = {32, 33, 34, std::nullopt, std::nullopt};
  record.little_ratio = 1.5;
  record.in_flight_mean = 2.5;
  record.floor = {.service_p50_ns = 35, .rate_max_per_s = 48.5};
  record.client = {.workers = 36,
                   .pace = "spin",
                   .busy_share = 0.25,
                   .cpu_us_per_operation = 0.75,
                   .connections_asked = 37,
                   .connections_at_start = 38,
                   .connections_at_end = 39,
                   .frames_per_send = 1.25,
                   .frames_per_receive = 1.75,
                   .protocol_errors = 40};
  record.rig = {"SUSPECT", {{"steal", 1.1, 1.0, "%", "another host"}, {"drift", 2, 3, "us", "x"}}};
  record.load = {"OVERLOADED", {{"dropped", 4, 5, "%", "lower it"}}};
  record.cluster = full_cluster();
  record.verification = {.status = "failed",
                         .detail = "one is missing",
                         .applied = 44,
                         .acknowledged = 45,
                         .unknown = 46,
                         .missing = 47};
  record.environment = {{"kernel", "Linux 6"}, {"cpu", {{"usable", 2}}}};
  return record;
}

std::string error_of(const Json& json) {
  const auto record = from_json(json);
  return record ? std::string() : record.error();
}

TEST(RunRecord, EveryFieldSurvives) {
  const Json json = to_json(full());
  const auto read = from_json(Json::parse(json.dump()));
  ASSERT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(to_json(*read).dump(1), json.dump(1));
  // And what a field is called is not what makes it equal: some by hand.
  EXPECT_EQ(read->books, full().books);
  EXPECT_EQ(read->warmup_books, full().warmup_books);
  EXPECT_EQ(read->counts, full().counts);
  EXPECT_EQ(read->if_lost_were_infinite, full().if_lost_were_infinite);
  EXPECT_EQ(read->cluster.server_cpu_share, full().cluster.server_cpu_share);
  EXPECT_EQ(read->cluster.events.at(0).at_s, -1.5);
  EXPECT_EQ(read->client.protocol_errors, 40U);
  EXPECT_EQ(read->held.thin, full().held.thin);
  EXPECT_EQ(read->verification.missing, 47U);
  EXPECT_TRUE(read->window.interrupted);
}

/// Nothing in the JSON of a full record is still a default: every field is written.
void expect_nothing_empty(const Json& json, const std::string& path) {
  for (const auto& [key, value] : json.items()) {
    const std::string at = path + "." + key;
    if (value.is_structured() && !value.empty()) {
      expect_nothing_empty(value, at);
      continue;
    }
    const bool expected = at == ".cluster.events.1.node" || at == ".cluster.events.1.detail" ||
                          at == ".cluster.events.1.planned" || at == ".cluster.server_cpu_share.1";
    EXPECT_EQ(value.is_null() || value == 0 || value == "" || value == false || value.empty(),
              expected)
        << at;
  }
}

TEST(RunRecord, EveryFieldIsWritten) { expect_nothing_empty(to_json(full()), ""); }

TEST(RunRecord, AbsentIsNull) {
  RunRecord record = full();
  record.request_bytes.reset();
  record.window.offered_per_s.reset();
  record.response = {};
  record.little_ratio.reset();
  record.client.frames_per_send.reset();
  record.cluster.leader_at_start.reset();
  record.verification.missing.reset();
  record.floor = {};
  const Json json = to_json(record);
  for (const char* pointer :
       {"/request_bytes", "/window/offered_per_s", "/response_ns", "/little_ratio",
        "/client/frames_per_send", "/cluster/leader_at_start", "/verification/missing",
        "/floor/service_p50_ns", "/floor/rate_max_per_s"}) {
    EXPECT_TRUE(json.at(Json::json_pointer(pointer)).is_null()) << pointer;
  }
  const auto read = from_json(json);
  ASSERT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(to_json(*read).dump(1), json.dump(1));
}

TEST(RunRecord, NothingLostMeansNothingInfinite) {
  RunRecord record = full();
  record.books = {.scheduled = 7, .sent = 7, .ok = 7};
  record.if_lost_were_infinite = record.response.quantiles;
  const Json json = to_json(record);
  EXPECT_TRUE(json["response_if_lost_were_infinite_ns"].is_null());
  EXPECT_EQ(from_json(json)->if_lost_were_infinite, record.response.quantiles);
}

TEST(RunRecord, SharesAreOfWhatWasScheduled) {
  RunRecord record;
  record.books.scheduled = 200;
  record.counts.at_cap = 3;
  EXPECT_DOUBLE_EQ(to_json(record)["counts"]["at_cap_share"].get<double>(), 0.015);
}

void collect(const Json& json, const std::string& path, std::vector<std::string>& pointers) {
  for (const auto& [key, value] : json.items()) {
    if (json.is_object()) {
      pointers.push_back(path + "/" + key);
    }
    if (value.is_structured()) {
      collect(value, path + "/" + key, pointers);
    }
  }
}

/// Fields that may be absent: they are what somebody wants to add or that is computed.
bool may_be_absent(const std::string& pointer) {
  return pointer.starts_with("/environment/") || pointer.starts_with("/counts/rejected_by/") ||
         pointer == "/measurement_version" || pointer == "/counts/at_cap_share" ||
         pointer == "/options/rate" || pointer == "/options/burst";
}

TEST(RunRecord, AMissingFieldIsNamed) {
  const Json json = to_json(full());
  std::vector<std::string> pointers;
  collect(json, "", pointers);
  EXPECT_GT(pointers.size(), 120U);
  for (const std::string& pointer : pointers) {
    if (may_be_absent(pointer)) {
      continue;
    }
    Json broken = json;
    const std::size_t slash = pointer.rfind('/');
    const std::string name = pointer.substr(slash + 1);
    broken.at(Json::json_pointer(pointer.substr(0, slash))).erase(name);
    EXPECT_NE(error_of(broken).find(name), std::string::npos)
        << pointer << ": " << error_of(broken);
  }
}

TEST(RunRecord, AMistypedFieldIsNamed) {
  const Json json = to_json(full());
  std::vector<std::string> pointers;
  collect(json, "", pointers);
  for (const std::string& pointer : pointers) {
    if (pointer.starts_with("/environment") || pointer == "/measurement_version" ||
        pointer == "/counts/at_cap_share") {
      continue;
    }
    Json broken = json;
    Json& value = broken.at(Json::json_pointer(pointer));
    value = value.is_boolean() ? Json("no") : Json(true);
    const std::string name = pointer.substr(pointer.rfind('/') + 1);
    EXPECT_NE(error_of(broken).find(pointer.starts_with("/options/") ? "" : name),
              std::string::npos)
        << pointer << ": " << error_of(broken);
    EXPECT_NE(error_of(broken), "") << pointer;
  }
}

TEST(RunRecord, ACountIsAWholeNumberFromZero) {
  for (const Json& bad : {Json(1.5), Json(-1), Json("7"), Json(nullptr), Json(true)}) {
    Json json = to_json(full());
    json["books"]["ok"] = bad;
    EXPECT_EQ(error_of(json), "books.ok: of the wrong type") << bad;
  }
  Json json = to_json(full());
  json["client"]["workers"] = 5'000'000'000U;
  EXPECT_EQ(error_of(json), "client.workers: of the wrong type");
  json = to_json(full());
  json["response_ns"]["p50"] = 18'000'000'000'000'000'000U;
  EXPECT_EQ(error_of(json), "response_ns.p50: of the wrong type");
  json = to_json(full());
  json["books"]["ok"] = 18'000'000'000'000'000'000U;
  EXPECT_EQ(error_of(json), "");
}

TEST(RunRecord, ANewerVersionIsRefused) {
  Json json = to_json(full());
  json["record_version"] = kRecordVersion + 1;
  EXPECT_EQ(error_of(json), "record_version 2 is not one that this raftperf reads (1 to 1)");
  json["record_version"] = 0;
  EXPECT_NE(error_of(json), "");
}

TEST(RunRecord, UnknownFieldsAreIgnored) {  // of a later raftperf with the same version
  Json json = to_json(full());
  json["new"] = 1;
  json["books"]["new"] = "x";
  EXPECT_EQ(error_of(json), "");
}

TEST(RunRecord, NoJsonIsTooOdd) {
  for (const char* text : {"null", "1", "[]", "{}", "\"x\"", "[[]]", "{\"record_version\":1}"}) {
    EXPECT_NE(error_of(Json::parse(text)), "") << text;
  }
}

TEST(RunRecord, TakesWhatTheRigKnows) {
  load::Summary summary(std::chrono::seconds{60});
  summary.mode = load::LoadMode::kClosed;
  summary.window = {.start = std::chrono::seconds{1}, .end = std::chrono::seconds{3}};
  summary.books = {.scheduled = 2, .sent = 2, .ok = 2};
  summary.completed_in_window = 2;
  summary.acknowledged = 5;
  summary.histograms.service.record(std::chrono::milliseconds{1});
  summary.histograms.service.record(std::chrono::milliseconds{2});
  summary.histograms.lag.record(std::chrono::milliseconds{2});
  RunRecord record;
  record.take(summary, judge_rig(summary, {}), judge_load(summary, {}));
  EXPECT_EQ(record.mode, "closed");
  EXPECT_EQ(record.window.offered_per_s, std::nullopt);
  EXPECT_EQ(record.window.achieved_per_s, 1);
  EXPECT_EQ(record.service.count, 2U);
  EXPECT_EQ(record.service.max, 2'000'000);
  EXPECT_EQ(record.service.thin.size(), 4U) << "all but p50";
  EXPECT_EQ(record.lag.count, 0U) << "does not apply";
  EXPECT_EQ(record.rig.status, "INVALID");
  EXPECT_EQ(record.rig.reasons.at(0).code, "few_ok");
  EXPECT_EQ(record.verification.acknowledged, 5U);
}

}  // namespace
}  // namespace raftperf::record
