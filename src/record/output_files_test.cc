// SPDX-License-Identifier: Apache-2.0
//
// The files of a run: timeline.csv, run.hlog, the folder they are in.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <hdr/hdr_histogram_log.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "record/histogram_log.h"
#include "record/results_folder.h"
#include "record/timeline.h"

namespace raftperf::record {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using load::Duration;

std::string read_file(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A folder of its own for each test, which is also where it runs: "results/" is relative.
class Files : public testing::Test {
 protected:
  Files() {
    std::string pattern = (fs::temp_directory_path() / "raftperf-record-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    before_ = fs::current_path();
    fs::current_path(folder_);
  }
  ~Files() override {
    fs::current_path(before_);
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  fs::path folder_;
  fs::path before_;
};

load::Interval interval(std::int64_t index) {
  load::Interval interval(60s);
  interval.reset(index);
  interval.books = {.scheduled = 10,
                    .sent = 8,
                    .dropped = {1, 0, 1, 0},
                    .ok = 6,
                    .rejected = 1,
                    .unknown = {0, 1, 0}};
  for (int i = 1; i <= 6; ++i) {
    interval.histograms.response.record(Duration{i * 100});
    interval.histograms.service.record(Duration{i * 10});
    interval.histograms.lag.record(Duration{i});
  }
  return interval;
}

TEST_F(Files, TimelineHasARowASecond) {
  auto timeline = Timeline::create("timeline.csv");
  ASSERT_TRUE(timeline.ok()) << timeline.error();
  const load::Interval warmup = interval(-1);
  const load::Interval measured = interval(0);
  ASSERT_TRUE(timeline->write({.second = -1, .phase = warmup.phase, .interval = &warmup}).ok());
  ASSERT_TRUE(timeline
                  ->write({.second = 0,
                           .phase = measured.phase,
                           .interval = &measured,
                           .closed_loop = true,
                           .ok_by_completion = 5,
                           .in_flight_mean = 1.5,
                           .leader = 2,
                           .term = 7})
                  .ok());
  EXPECT_EQ(read_file("timeline.csv"),
            "second,phase,scheduled,sent,dropped_inflight_cap,dropped_rig_late,dropped_no_leader,"
            "dropped_not_accepted,ok,rejected,unknown,ok_by_completion,p50_ns,p99_ns,max_ns,"
            "lag_p99_ns,in_flight_mean,leader,term\n"
            "-1,warmup,10,8,1,0,1,0,6,1,1,0,300,600,600,6,,,\n"
            "0,measurement,10,8,1,0,1,0,6,1,1,5,30,60,60,6,1.50,2,7\n");
}

TEST_F(Files, TimelineOfAnIdleSecondHasEmptyCells) {
  auto timeline = Timeline::create("timeline.csv");
  load::Interval idle(60s);
  idle.reset(3);
  ASSERT_TRUE(timeline->write({.second = 3, .phase = idle.phase, .interval = &idle}).ok());
  EXPECT_TRUE(read_file("timeline.csv").ends_with("\n3,measurement,0,0,0,0,0,0,0,0,0,0,,,,,,,\n"));
}

TEST_F(Files, AFullDiskIsAnError) {
  const auto timeline = Timeline::create("/dev/full");
  ASSERT_FALSE(timeline.ok());
  EXPECT_EQ(timeline.error(), "/dev/full: No space left on device");
  EXPECT_FALSE(HistogramLog::create("missing/run.hlog", {}).ok());
  EXPECT_FALSE(Timeline::create("missing/timeline.csv").ok());
}

struct ReadBack {
  std::string tag;
  double start_s;
  double length_s;
  std::int64_t count;
  std::int64_t p50;
  std::int64_t max;
  bool operator==(const ReadBack&) const = default;
};

double seconds(const hdr_timespec& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

std::vector<ReadBack> read_log(const char* path, double& start_s) {
  std::vector<ReadBack> entries;
  std::FILE* file = std::fopen(path, "r");
  hdr_log_reader reader{};
  hdr_log_reader_init(&reader);
  EXPECT_EQ(hdr_log_read_header(&reader, file), 0);
  start_s = seconds(reader.start_timestamp);
  while (true) {
    char tag[64] = {};
    hdr_log_entry entry{};
    entry.tag = tag;
    entry.tag_len = sizeof tag;
    hdr_histogram* histogram = nullptr;
    if (hdr_log_read_entry(&reader, file, &entry, &histogram) != 0) {
      break;  // the library says -1 at the end of the file
    }
    entries.push_back({tag, seconds(entry.start_timestamp), seconds(entry.interval),
                       histogram->total_count, hdr_value_at_percentile(histogram, 50),
                       hdr_max(histogram)});
    hdr_close(histogram);
  }
  std::fclose(file);
  return entries;
}

TEST_F(Files, HistogramLogIsReadByTheLibrary) {
  const std::chrono::system_clock::time_point start{1'764'600'000'500ms};
  auto log = HistogramLog::create("run.hlog", start);
  ASSERT_TRUE(log.ok()) << log.error();
  const load::Interval second = interval(0);
  load::Histogram empty(60s);
  ASSERT_TRUE(log->write("response", 0s, 1s, second.histograms.response).ok());
  ASSERT_TRUE(log->write("service", 0s, 1s, second.histograms.service).ok());
  ASSERT_TRUE(log->write("lag", 1s, 500ms, empty).ok());
  double start_s = 0;
  const auto entries = read_log("run.hlog", start_s);
  EXPECT_DOUBLE_EQ(start_s, 1'764'600'000.5);
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0], (ReadBack{"response", 0, 1, 6, 300, 600}));
  EXPECT_EQ(entries[1], (ReadBack{"service", 0, 1, 6, 30, 60}));
  EXPECT_EQ(entries[2].tag, "lag");
  EXPECT_EQ(entries[2].start_s, 1);
  EXPECT_EQ(entries[2].length_s, 0.5);
  EXPECT_EQ(entries[2].count, 0);
}

const std::chrono::system_clock::time_point kNow{1'764'600'000s};

TEST_F(Files, FoldersAreNamedByTimeSystemAndLoad) {
  auto folder = ResultsFolder::create(std::nullopt, "libraft", "open-20000", kNow);
  ASSERT_TRUE(folder.ok()) << folder.error();
  EXPECT_EQ(folder->path(), "results/20251201T144000Z-libraft-open-20000");
  const auto second = ResultsFolder::create(std::nullopt, "libraft", "open-20000", kNow);
  EXPECT_EQ(second->path(), "results/20251201T144000Z-libraft-open-20000-2");
  ASSERT_TRUE(folder->mark_invalid().ok());
  EXPECT_EQ(folder->path(), "results/20251201T144000Z-libraft-open-20000.INVALID");
  EXPECT_TRUE(fs::is_directory(folder->path()));
  const auto third = ResultsFolder::create(std::nullopt, "libraft", "open-20000", kNow);
  EXPECT_EQ(third->path(), "results/20251201T144000Z-libraft-open-20000-3")
      << "the invalid one keeps its number";
}

TEST_F(Files, ANamedFolderIsNewOrEmpty) {
  EXPECT_TRUE(ResultsFolder::create("a/b/c", "s", "w", kNow).ok());
  EXPECT_TRUE(ResultsFolder::create("a/b/c", "s", "w", kNow).ok()) << "it is still empty";
  EXPECT_TRUE(ResultsFolder::create("d/", "s", "w", kNow).ok());
  std::ofstream("a/b/c/mine") << "x";
  const auto taken = ResultsFolder::create("a/b/c", "s", "w", kNow);
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error(), "a/b/c: exists and is not an empty folder");
  std::ofstream("file") << "x";
  EXPECT_FALSE(ResultsFolder::create("file", "s", "w", kNow).ok());
  EXPECT_FALSE(ResultsFolder::create("file/below", "s", "w", kNow).ok());
}

TEST_F(Files, AnUnwritablePlaceIsFoundAtOnce) {  // C77
  EXPECT_FALSE(ResultsFolder::create("/proc/raftperf", "s", "w", kNow).ok());
  if (::geteuid() != 0) {
    fs::create_directory("locked");
    fs::permissions("locked", fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_FALSE(ResultsFolder::create("locked", "s", "w", kNow).ok());
    EXPECT_FALSE(ResultsFolder::create("locked/below", "s", "w", kNow).ok());
    fs::permissions("locked", fs::perms::owner_all);
  }
}

TEST_F(Files, AnInvalidNamedFolderIsMarkedInside) {
  auto folder = ResultsFolder::create("mine", "s", "w", kNow);
  ASSERT_TRUE(folder->mark_invalid().ok());
  EXPECT_EQ(folder->path(), "mine");
  EXPECT_TRUE(fs::exists("mine/INVALID"));
}

TEST_F(Files, DiscardingTakesOnlyWhatIsOurs) {
  auto ours = ResultsFolder::create("new", "s", "w", kNow);
  std::ofstream(ours->file("timeline.csv")) << "x";
  ours->discard();
  EXPECT_FALSE(fs::exists("new"));

  fs::create_directory("was-there");
  auto named = ResultsFolder::create("was-there", "s", "w", kNow);
  std::ofstream(named->file("timeline.csv")) << "x";
  named->discard();
  EXPECT_TRUE(fs::is_empty("was-there"));

  auto shared = ResultsFolder::create("shared", "s", "w", kNow);
  std::ofstream("shared/notes.txt") << "somebody's";
  shared->discard();
  EXPECT_TRUE(fs::exists("shared/notes.txt"));
}

TEST_F(Files, ARecordIsReadBack) {
  auto folder = ResultsFolder::create("mine", "s", "w", kNow);
  RunRecord record;
  record.system = "libraft";
  record.environment = Json::object();
  ASSERT_TRUE(folder->write(record).ok());
  EXPECT_FALSE(fs::exists("mine/run.json.part"));
  const auto read = read_record("mine/run.json");
  ASSERT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(read->system, "libraft");
  EXPECT_TRUE(read_file("mine/run.json").ends_with("}\n"));
}

TEST_F(Files, ATornRecordIsRecognised) {  // C83
  auto folder = ResultsFolder::create("mine", "s", "w", kNow);
  RunRecord record;
  record.environment = Json::object();
  ASSERT_TRUE(folder->write(record).ok());
  const std::string whole = read_file("mine/run.json");
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{1}, whole.size() / 2, whole.size() - 2}) {
    std::ofstream("torn.json") << whole.substr(0, length);
    const auto read = read_record("torn.json");
    ASSERT_FALSE(read.ok()) << length;
    EXPECT_EQ(read.error(), "torn.json: not whole JSON: was the run cut short?");
  }
  EXPECT_EQ(read_record("missing.json").error(), "missing.json: No such file or directory");
}

TEST_F(Files, AFileIsReplacedWholeOrNotAtAll) {
  ASSERT_TRUE(write_whole("file", "old").ok());
  ASSERT_TRUE(write_whole("file", "new").ok());
  EXPECT_EQ(read_file("file"), "new");
  fs::create_directory("folder");
  std::ofstream("folder/x") << "x";
  EXPECT_FALSE(write_whole("folder", "text").ok());
  EXPECT_FALSE(fs::exists("folder.part"));
  EXPECT_FALSE(write_whole("missing/file", "text").ok());
}

}  // namespace
}  // namespace raftperf::record
