// SPDX-License-Identifier: Apache-2.0
//
// A run on three real nodes: the record has every field, and its parts agree with each
// other and with what the cluster applied.
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/e2e/fixture.h"

namespace raftperf::e2e {
namespace {

class Libraft : public LibraftTest {
 protected:
  [[nodiscard]] nlohmann::json json() const {
    return nlohmann::json::parse(read_file(out() / "run.json"));
  }

  /// timeline.csv and run.hlog against run.json, over `seconds` of measurement.
  void expect_files_agree(const record::RunRecord& record, std::size_t seconds) const {
    const auto rows = read_timeline(out() / "timeline.csv");
    EXPECT_EQ(measured(rows).size(), seconds);
    const load::Books books = sum(measured(rows));
    EXPECT_EQ(books.scheduled, record.books.scheduled);
    EXPECT_EQ(books.sent, record.books.sent);
    EXPECT_EQ(books.dropped, record.books.dropped);
    EXPECT_EQ(books.ok, record.books.ok);
    EXPECT_EQ(books.rejected, record.books.rejected);
    EXPECT_EQ(books.unknown_total(), record.books.unknown_total());
    std::int64_t second = rows.empty() ? 0 : rows.front().number("second");
    for (const TimelineRow& row : rows) {
      EXPECT_EQ(row.number("second"), second++) << "seconds without a gap";
    }
    auto log = read_histogram_log(out() / "run.hlog");
    const bool is_open = record.mode == "open";
    EXPECT_EQ(log.contains("response"), is_open);
    EXPECT_EQ(log.contains("lag"), is_open);
    const auto& reported = is_open ? record.response : record.service;
    const MergedLog& merged = log[is_open ? "response" : "service"];
    EXPECT_EQ(merged.count, static_cast<std::int64_t>(record.books.ok));
    EXPECT_EQ(merged.intervals, static_cast<int>(seconds));
    // The log's buckets hold three significant digits.
    EXPECT_NEAR(static_cast<double>(merged.max_ns), static_cast<double>(reported.max.value_or(0)),
                0.002 * static_cast<double>(merged.max_ns));
  }

  static void expect_applied(const record::RunRecord& record) {
    EXPECT_EQ(record.verification.status, "passed") << record.verification.detail;
    EXPECT_EQ(record.verification.applied, record.verification.acknowledged);
    EXPECT_EQ(record.verification.acknowledged, record.books.ok + record.warmup_books.ok);
    EXPECT_NE(record.verification.detail.find("3/3 nodes agree"), std::string::npos)
        << record.verification.detail;
  }
};

TEST_F(Libraft, OpenLoopFillsTheRecord) {
  const Ended ended =
      run(run_libraft({"--mode", "open", "--rate", "1000", "--warmup", "1s", "--measure", "3s"}));
  const auto record = read_record();
  SCOPED_TRACE(ended.out + ended.err);
  expect_books_close(record);
  EXPECT_EQ(record.books.scheduled, 3000U);
  EXPECT_EQ(record.warmup_books.scheduled, 1000U);
  expect_files_agree(record, 3);
  expect_applied(record);
  EXPECT_EQ(record.cluster.nodes.size(), 3U);
  EXPECT_EQ(record.cluster.placement, "sharing this machine with the client");
  EXPECT_EQ(record.durability, "memory");
  EXPECT_GT(record.request_bytes.value_or(0), 0U);
  EXPECT_EQ(std::filesystem::exists(out() / "INVALID"), record.rig.status == "INVALID");
  expect_no_servers(2s);
}

TEST_F(Libraft, ClosedLoopFillsTheRecord) {
  run(run_libraft({"--threads", "10", "--warmup", "500ms", "--measure", "2s"}));
  const auto record = read_record();
  expect_books_close(record);
  EXPECT_EQ(record.mode, "closed");
  EXPECT_GT(record.books.ok, 0U);
  EXPECT_FALSE(record.window.offered_per_s.has_value());
  expect_files_agree(record, 2);
  expect_applied(record);
  expect_no_servers(2s);
}

TEST_F(Libraft, FsyncAndUniformProfile) {
  run(run_libraft({"--mode", "open", "--rate", "200", "--warmup", "0s", "--measure", "1s",
                   "--durability", "fsync", "--profile", "uniform", "--value-size", "256"}));
  const auto record = read_record();
  expect_books_close(record);
  EXPECT_EQ(record.books.scheduled, 200U);
  EXPECT_EQ(record.durability, "fsync");
  expect_applied(record);
  EXPECT_TRUE(!std::filesystem::exists(state() / "data") ||
              std::filesystem::is_empty(state() / "data"));
}

/// Every field of the record that a reader may rely on, as JSON pointers.
constexpr std::array kFields{"/record_version",
                             "/measurement_version",
                             "/system",
                             "/driver",
                             "/mode",
                             "/profile",
                             "/durability",
                             "/request_bytes",
                             "/options/rate/value",
                             "/options/rate/source",
                             "/options/max_inflight/source",
                             "/window/start_utc",
                             "/window/warmup_s",
                             "/window/measure_s",
                             "/window/offered_per_s",
                             "/window/achieved_per_s",
                             "/warmup/dropped/inflight_cap",
                             "/books/scheduled",
                             "/books/sent",
                             "/books/dropped/inflight_cap",
                             "/books/dropped/rig_late",
                             "/books/dropped/no_leader",
                             "/books/dropped/not_accepted",
                             "/books/ok",
                             "/books/rejected",
                             "/books/unknown/timeout",
                             "/books/unknown/connection_lost",
                             "/books/unknown/unanswered",
                             "/counts/attempts",
                             "/counts/redirects",
                             "/counts/mismatches",
                             "/counts/late_replies",
                             "/counts/at_cap_share",
                             "/response_ns/p50",
                             "/response_ns/p90",
                             "/response_ns/p99",
                             "/response_ns/p99_9",
                             "/response_ns/p99_99",
                             "/response_ns/max",
                             "/response_ns/mean",
                             "/response_ns/count",
                             "/service_ns/p50",
                             "/service_ns/count",
                             "/lag_ns/p50",
                             "/lag_ns/max",
                             "/held_ns/p50",
                             "/turn_gap_ns/p50",
                             "/response_if_lost_were_infinite_ns",
                             "/little_ratio",
                             "/in_flight_mean",
                             "/floor",
                             "/rig/status",
                             "/rig/reasons",
                             "/load/status",
                             "/load/reasons",
                             "/cluster/nodes",
                             "/cluster/leader_at_start",
                             "/cluster/leader_at_end",
                             "/cluster/term_at_start",
                             "/cluster/term_at_end",
                             "/cluster/leader_changes",
                             "/cluster/placement",
                             "/cluster/events",
                             "/verification/status",
                             "/environment/kernel",
                             "/environment/cpu/model",
                             "/environment/build/compiler"};

void expect_no_sentinels(const nlohmann::json& json, const std::string& path) {
  if (json.is_structured()) {
    for (const auto& [key, value] : json.items()) {
      expect_no_sentinels(value, path + "/" + key);
    }
  } else if (json.is_number() && path != "/cluster/events" &&
             path.find("at_s") == std::string::npos) {
    EXPECT_GE(json.get<double>(), 0) << path << " is absent as null, never as a negative number";
  }
}

TEST_F(Libraft, JsonHasEveryFieldOfEitherMode) {
  run(run_libraft({"--mode", "open", "--rate", "500", "--warmup", "500ms", "--measure", "1s"}));
  const auto open = json();
  for (const char* field : kFields) {
    EXPECT_TRUE(open.contains(nlohmann::json::json_pointer(field))) << field;
  }
  expect_no_sentinels(open, "");
  EXPECT_EQ(open["options"]["rate"]["source"], "flag");
  EXPECT_EQ(open["options"]["durability"]["source"], "system");
  std::filesystem::remove_all(out());
  run(run_libraft({"--warmup", "0s", "--measure", "1s"}));
  const auto closed = json();
  EXPECT_TRUE(closed["response_ns"].is_null());
  EXPECT_TRUE(closed["lag_ns"].is_null());
  EXPECT_TRUE(closed["window"]["offered_per_s"].is_null());
  EXPECT_TRUE(closed["service_ns"].is_object());
  expect_no_sentinels(closed, "");
}

// C69: a flag wins over environment and file, even where it says what the default says.
TEST_F(Libraft, OptionsKnowWhereTheyCameFrom) {
  std::ofstream(here() / "mine.toml") << "timeout = \"2s\"\nseed = 9\nwarmup = 0\nmeasure = 1\n";
  run(run_libraft({"--mode", "open", "--rate", "200", "--timeout", "5s", "--config", "mine.toml"}),
      {.environment = {{"RAFTPERF_SEED", "11"}, {"RAFTPERF_TIMEOUT", "3s"}}});
  const auto options = json()["options"];
  EXPECT_EQ(options["timeout"], (nlohmann::json{{"value", "5s"}, {"source", "flag"}}));
  EXPECT_EQ(options["seed"], (nlohmann::json{{"value", "11"}, {"source", "environment"}}));
  EXPECT_EQ(options["measure"], (nlohmann::json{{"value", "1"}, {"source", "file"}}));
  EXPECT_EQ(options["burst"]["source"], "default");
}

}  // namespace
}  // namespace raftperf::e2e
