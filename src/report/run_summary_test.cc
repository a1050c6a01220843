// SPDX-License-Identifier: Apache-2.0
#include "report/run_summary.h"

#include <gtest/gtest.h>

#include <sstream>

namespace raftperf::report {
namespace {

record::LatencyRecord latency(std::int64_t us, std::uint64_t count) {
  record::LatencyRecord latency{
      .quantiles = {us * 1000, us * 2000, us * 5000, us * 20'000, us * 50'000},
      .max = us * 60'000,
      .mean = static_cast<double>(us) * 1100,
      .count = count};
  if (count < 100'000) {
    latency.thin = {"p99_99"};
  }
  return latency;
}

record::RunRecord good() {
  record::RunRecord record;
  record.system = "libraft";
  record.driver = "wire";
  record.mode = "open";
  record.profile = "native";
  record.durability = "memory";
  record.request_bytes = 57;
  record.options = {
      {"burst", "1", "default"}, {"arrival", "uniform", "default"}, {"threads", "100", "default"}};
  record.window = {
      .warmup_s = 10, .measure_s = 30, .offered_per_s = 5000, .achieved_per_s = 4999.7};
  record.books = {.scheduled = 150'000, .sent = 150'000, .ok = 150'000};
  record.response = latency(120, 150'000);
  record.service = latency(119, 150'000);
  record.lag = latency(1, 150'000);
  record.little_ratio = 1.001;
  record.in_flight_mean = 0.61;
  record.client = {.workers = 1,
                   .pace = "block, margin 0 us",
                   .busy_share = 0.031,
                   .cpu_us_per_operation = 4.25,
                   .connections_asked = 12,
                   .connections_at_end = 12,
                   .frames_per_send = 1.04};
  record.rig.status = "VALID";
  record.load.status = "CARRIED";
  record.cluster = {.nodes = {"a", "b", "c"},
                    .leader_at_start = 0,
                    .leader_at_end = 0,
                    .term_at_start = 2,
                    .term_at_end = 2,
                    .placement = "sharing this machine with the client"};
  record.verification = {.status = "passed", .detail = "200,000 acknowledged, all of them applied"};
  return record;
}

/// What is printed, after a check that it fits a terminal.
std::string summary(const record::RunRecord& record) {
  const std::string text = run_summary(record);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 80U) << line;
    EXPECT_FALSE(line.ends_with(' ')) << "'" << line << "'";
  }
  return text;
}

TEST(RunSummary, OfAGoodRun) {
  EXPECT_EQ(summary(good()), R"(libraft    open loop   5,000.0/s offered   burst 1   uniform
           30 s measured after 10 s
rig        VALID
load       CARRIED
rate       4,999.7/s achieved   100.0 % of offered   Little's ratio 1.001
           0.61 in flight
scheduled  150,000 = sent 150,000 + dropped 0
sent       150,000 = ok 150,000 + rejected 0 + unknown 0
us                p50        p90        p99      p99.9     p99.99         max
response        120.0      240.0      600.0      2,400      6,000       7,200
service         119.0      238.0      595.0      2,380      5,950       7,140
lag               1.0        2.0        5.0       20.0       50.0        60.0
workload   profile native   57 B a request   durability memory   driver wire
cluster    3 nodes, sharing this machine with the client   leader node0, term 2
client     1 worker, 3.10 % busy   4.25 us CPU an operation   connections 12/12
           1.0 frames a send   pace block, margin 0 us
verified   passed: 200,000 acknowledged, all of them applied
)");
}

TEST(RunSummary, OfAnInvalidRunSaysWhyAndWhatToDo) {
  record::RunRecord record = good();
  record.rig = {"INVALID",
                {{"rig_share_p99", 61.25, 50, "%",
                  "the client was late: a free core, --pace spin, more --workers, or a lower rate"},
                 {"turn_gap_p99", 1234.5, 200, "us",
                  "answers were read late: give the client a core of its own"}}};
  const std::string text = summary(record);
  EXPECT_EQ(text.substr(0, text.find("rate  ")),
            R"(libraft    open loop   5,000.0/s offered   burst 1   uniform
           30 s measured after 10 s
rig        INVALID
           rig_share_p99: 61.3 %, limit 50.0 %
             the client was late: a free core, --pace spin, more --workers, or a
             lower rate
           turn_gap_p99: 1,234 us, limit 200 us
             answers were read late: give the client a core of its own
load       CARRIED
)");
}

TEST(RunSummary, OfAnOverloadedRunShowsTheDropped) {
  record::RunRecord record = good();
  record.load = {
      "OVERLOADED",
      {{"dropped", 20, 0.1, "%", "the offered rate was not placed: lower it"},
       {"achieved", 4000, 4950, "/s", "the cluster fell behind the offered rate: lower it"}}};
  record.window.achieved_per_s = 3999.2;
  record.books = {.scheduled = 150'000,
                  .sent = 120'000,
                  .dropped = {29'000, 0, 1'000, 0},
                  .ok = 119'990,
                  .rejected = 2,
                  .unknown = {8, 0, 0}};
  record.counts.redirects = 3;
  record.late_replies = 8;
  record.if_lost_were_infinite = {130'000, 400'000, std::nullopt, std::nullopt, std::nullopt};
  record.cluster.leader_at_end = 2;
  record.cluster.term_at_end = 3;
  EXPECT_EQ(summary(record), R"(libraft    open loop   5,000.0/s offered   burst 1   uniform
           30 s measured after 10 s
rig        VALID
load       OVERLOADED
           dropped: 20.0 %, limit 0.10 %
             the offered rate was not placed: lower it
           achieved: 4,000.0/s, limit 4,950.0/s
             the cluster fell behind the offered rate: lower it
rate       3,999.2/s achieved   80.0 % of offered   Little's ratio 1.001
           0.61 in flight
scheduled  150,000 = sent 120,000 + dropped 30,000 (inflight_cap 29,000,
           no_leader 1,000)
sent       120,000 = ok 119,990 + rejected 2 + unknown 8 (timeout 8)
also       redirects 3   late replies 8
us                p50        p90        p99      p99.9     p99.99         max
response        120.0      240.0      600.0      2,400      6,000       7,200
lost = inf      130.0      400.0        inf        inf        inf         inf
service         119.0      238.0      595.0      2,380      5,950       7,140
lag               1.0        2.0        5.0       20.0       50.0        60.0
           censored: 30,000 operations were never sent and have no latency here
workload   profile native   57 B a request   durability memory   driver wire
cluster    3 nodes, sharing this machine with the client   leader node0, term 2
           at the end node2, term 3
client     1 worker, 3.10 % busy   4.25 us CPU an operation   connections 12/12
           1.0 frames a send   pace block, margin 0 us
verified   passed: 200,000 acknowledged, all of them applied
)");
}

TEST(RunSummary, OfAClosedLoop) {
  record::RunRecord record = good();
  record.mode = "closed";
  record.window.offered_per_s.reset();
  record.window.measure_s = 3600;
  record.response = {};
  record.lag = {};
  record.service = latency(119, 9'000);
  EXPECT_EQ(summary(record),
            R"(libraft    closed loop   100 outstanding   3,600 s measured after 10 s
rig        VALID
load       CARRIED
rate       4,999.7/s achieved   Little's ratio 1.001   0.61 in flight
scheduled  150,000 = sent 150,000 + dropped 0
sent       150,000 = ok 150,000 + rejected 0 + unknown 0
us                p50        p90        p99      p99.9     p99.99         max
service         119.0      238.0      595.0      2,380      5,950*      7,140
           * fewer than ten samples beyond it
           closed loop: pauses are under-represented in these
workload   profile native   57 B a request   durability memory   driver wire
cluster    3 nodes, sharing this machine with the client   leader node0, term 2
client     1 worker, 3.10 % busy   4.25 us CPU an operation   connections 12/12
           1.0 frames a send   pace block, margin 0 us
verified   passed: 200,000 acknowledged, all of them applied
)");
}

TEST(RunSummary, WithoutAnyAnswer) {
  record::RunRecord record = good();
  record.response = {};
  record.service = {};
  record.lag = {};
  record.books = {.scheduled = 10, .sent = 10, .unknown = {10, 0, 0}};
  record.little_ratio.reset();
  record.in_flight_mean.reset();
  const std::string text = summary(record);
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_NE(text.find("Little's ratio -"), std::string::npos);
}

TEST(RunSummary, LongTextsAreWrapped) {
  record::RunRecord record = good();
  record.system = "a-system-with-a-long-name";
  record.verification.detail =
      "3 of 1,234,567 operations that the cluster acknowledged were not applied by its leader, "
      "and node2 holds another state than node0 and node1";
  record.cluster.placement = "a placement that takes more words than anybody would want to read";
  const std::string text = summary(record);
  EXPECT_NE(text.find("a-system-with-a-long-name open loop"), std::string::npos);
}

}  // namespace
}  // namespace raftperf::report
