// SPDX-License-Identifier: Apache-2.0
//
// Mistakes in the options: one line that names the option and what would be right, exit
// status 2, before anything is started or made.
#include <algorithm>
#include <csignal>
#include <fstream>
#include <thread>

#include "tests/e2e/fixture.h"

namespace raftperf::e2e {
namespace {

namespace fs = std::filesystem;

constexpr int kUsage = 2;

struct Mistake {
  const char* name;
  Words command;
  Words said;  ///< Each of these is in the line.
  std::map<std::string, std::string> environment = {};
  std::string config = {};  ///< Content of mine.toml in the current folder.
};

std::ostream& operator<<(std::ostream& stream, const Mistake& mistake) {
  return stream << mistake.name;
}

/// `run sim` in an open loop: it would start at once, were the rest not wrong.
Words open(const Words& more) { return Words{"run", "sim", "--mode", "open"} + more; }
Words rate(const std::string& text) { return open({"--rate", text}); }
Words closed(const Words& more) { return Words{"run", "sim"} + more; }

const Words kRateSays{"--rate", "example", "1000"};

std::vector<Mistake> rate_mistakes() {
  return {
      {"RateIsTheLastWord", open({"--rate"}), kRateSays},
      {"RateEmpty", open({"--rate="}), kRateSays},
      {"RateNan", rate("nan"), kRateSays},
      {"RateInf", rate("inf"), kRateSays},
      {"RateNegative", rate("-1"), kRateSays},
      {"RateNegativeWithEquals", open({"--rate=-1"}), kRateSays},
      {"RateZero", rate("0"), kRateSays},
      {"RateHuge", rate("1e999"), kRateSays},
      {"RateBinarySuffix", rate("1Ki"), kRateSays},
      {"RateUnderscore", rate("1_000"), kRateSays},
      {"RateComma", rate("1,000"), kRateSays},
      {"RateBlank", rate("10 00"), kRateSays},
      {"RateDigitAfterSuffix", rate("1k5"), kRateSays},
      {"RateTwoDots", rate("1.5.2"), kRateSays},
      {"RateNewline", rate("10\n00"), kRateSays},
      {"RateMissing", open({}), {"--rate", "example"}},
      {"RateInClosedLoop", closed({"--rate", "10"}), {"--rate", "--mode open"}},
  };
}

std::vector<Mistake> value_mistakes() {
  return {
      {"ThreadsZero", closed({"--threads", "0"}), {"--threads", "example: 100"}},
      {"ThreadsInOpenLoop",
       open({"--rate", "10", "--threads", "5"}),
       {"--threads", "--mode closed"}},
      {"BurstZero", open({"--rate", "10", "--burst", "0"}), {"--burst", "example"}},
      {"BurstAboveMaxInflight",
       open({"--rate", "1000", "--burst", "20", "--max-inflight", "10"}),
       {"burst", "20", "10"}},
      {"BurstAboveTheWindow",
       open({"--rate", "10", "--measure", "1s", "--burst", "100"}),
       {"burst", "100"}},
      {"MoreWorkersThanSlots",
       open({"--rate", "10", "--max-inflight", "2", "--workers", "3"}),
       {"workers"}},
      {"WarmupNegative", closed({"--warmup", "-1s"}), {"--warmup", "example"}},
      {"WarmupUnit", closed({"--warmup", "10parsecs"}), {"--warmup", "example"}},
      {"MeasureZero", closed({"--measure", "0"}), {"--measure", "example"}},
      {"MeasureDays", closed({"--measure", "48h"}), {"--measure", "example"}},
      {"TimeoutNan", closed({"--timeout", "nan"}), {"--timeout", "example"}},
      {"ModeNearest", closed({"--mode", "opne"}), {"--mode", "did you mean 'open'"}},
      {"PaceUnknown", closed({"--pace", "fast"}), {"--pace", "auto"}},
      {"ArrivalNearest",
       open({"--rate", "1", "--arrival", "poison"}),
       {"--arrival", "did you mean 'poisson'"}},
      {"LeaderUnknown", {"run", "libraft", "--leader", "node9"}, {"--leader", "node9", "node2"}},
      {"LeaderWord", {"run", "libraft", "--leader", "first"}, {"--leader", "example: node0"}},
      {"LeaderOutsideOfNodes",
       {"run", "libraft", "--nodes", "127.0.0.1:1", "--leader", "node1"},
       {"--leader", "node1"}},
      {"ValueSizeZero", closed({"--value-size", "0"}), {"--value-size", "example: 64"}},
      {"ValueSizeHuge", closed({"--value-size", "2Mi"}), {"--value-size", "example: 64"}},
      {"PortBase", {"run", "libraft", "--port-base", "70000"}, {"--port-base", "example"}},
      {"ClusterSize", {"run", "libraft", "--cluster-size", "0"}, {"--cluster-size", "example"}},
      {"Durability",
       {"run", "libraft", "--durability", "fsnyc"},
       {"--durability", "did you mean 'fsync'"}},
      {"DurabilityNotOffered",
       {"run", "libraft", "--durability", "page-cache"},
       {"--durability", "memory"}},
      {"Knob",
       {"run", "libraft", "--set", "election_timeot=1s"},
       {"--set", "did you mean 'election_timeout'"}},
      {"KnobWithoutValue", {"run", "libraft", "--set", "heartbeat"}, {"--set", "example"}},
      {"KnobOfARunningCluster",
       {"run", "libraft", "--nodes", "127.0.0.1:1", "--set", "heartbeat=1s"},
       {"--set", "local cluster"}},
      {"PortBaseOfARunningCluster",
       {"run", "libraft", "--nodes", "127.0.0.1:1", "--port-base", "9100"},
       {"--port-base", "local cluster"}},
      {"SettingOfTheSimulator", closed({"--set", "nonsense=1"}), {"--set", "nonsense"}},
      {"OutEmpty", closed({"--out", ""}), {"--out", "example"}},
  };
}

std::vector<Mistake> endpoint_mistakes() {
  const auto nodes = [](const std::string& list) {
    return Words{"run", "libraft", "--nodes", list};
  };
  const Words says{"--nodes", "example"};
  return {
      {"NodesWithoutPort", nodes("127.0.0.1"), says},
      {"NodesPortZero", nodes("127.0.0.1:0"), says},
      {"NodesPortHuge", nodes("127.0.0.1:65536"), says},
      {"NodesPortWord", nodes("127.0.0.1:http"), says},
      {"NodesEmpty", nodes(""), says},
      {"NodesEmptyElement", nodes("127.0.0.1:1,,127.0.0.1:2"), says},
      {"NodesBareIpv6", nodes("::1"), says},
      {"NodesUnclosedBracket", nodes("[::1:9100"), says},
      {"NodesNoHost", nodes(":9100"), says},
  };
}

std::vector<Mistake> word_mistakes() {
  return {
      {"UnknownOption", closed({"--treads", "5"}), {"--treads", "did you mean '--threads'"}},
      {"UnknownOptionWithEquals", open({"--rte=5"}), {"--rte", "did you mean '--rate'"}},
      {"UnknownSubcommand", {"rnu", "libraft"}, {"rnu", "did you mean 'run'"}},
      {"UnknownClusterWord", {"cluster", "staus", "libraft"}, {"staus", "did you mean 'status'"}},
      {"UnknownSystem", {"run", "librft"}, {"librft", "did you mean 'libraft'"}},
      {"UnknownSystemLikeSim", {"run", "sin"}, {"sin", "did you mean 'sim'"}},
      {"UnknownSystemOfCluster", {"cluster", "up", "librft"}, {"did you mean 'libraft'"}},
      {"NoSubcommand", {}, {"--help"}},
      {"NoSystem", {"run"}, {"system"}},
      {"NoClusterWord", {"cluster"}, {"--help"}},
      {"OneWordTooMany", {"run", "sim", "extra"}, {"extra"}},
      {"SystemAsPath", {"run", "../libraft"}, {"../libraft"}},
  };
}

std::vector<Mistake> source_mistakes() {
  const Words config = closed({"--config", "mine.toml"});
  return {
      {"ConfigMissing", closed({"--config", "none.toml"}), {"--config", "none.toml"}},
      {"ConfigIsAFolder", closed({"--config", "/"}), {"--config", "/"}},
      {"ConfigUnknownKey",
       config,
       {"mine.toml:2", "treads", "did you mean 'threads'"},
       {},
       "mode = \"closed\"\ntreads = 5\n"},
      {"ConfigWrongType", config, {"mine.toml:1", "threads"}, {}, "threads = [1, 2]\n"},
      {"ConfigBadValue",
       config,
       {"mine.toml:1", "--threads", "example: 100"},
       {},
       "threads = \"many\"\n"},
      {"ConfigFraction",
       config,
       {"mine.toml:1", "--threads", "example: 100"},
       {},
       "threads = 1.5\n"},
      {"ConfigNan", config, {"mine.toml:1", "--rate", "example"}, {}, "rate = nan\n"},
      {"ConfigTable", config, {"mine.toml:1", "run"}, {}, "[run]\nthreads = 1\n"},
      {"ConfigBroken", config, {"mine.toml:1"}, {}, "threads = \n"},
      {"EnvironmentRate",
       open({}),
       {"RAFTPERF_RATE", "--rate", "example"},
       {{"RAFTPERF_RATE", "1_000"}}},
      {"EnvironmentRateEmpty",
       open({}),
       {"RAFTPERF_RATE", "--rate", "example"},
       {{"RAFTPERF_RATE", ""}}},
      {"EnvironmentMode",
       closed({}),
       {"RAFTPERF_MODE", "--mode", "closed"},
       {{"RAFTPERF_MODE", "both"}}},
  };
}

std::vector<Mistake> output_mistakes() {
  return {
      {"OutBelowAFile", closed({"--out", "/dev/full/x"}), {"--out", "/dev/full"}},
      {"OutIsAFile", closed({"--out", "/etc/passwd"}), {"--out", "/etc/passwd"}},
      {"OutNotEmpty", closed({"--out", "/etc"}), {"--out", "/etc", "not an empty"}},
      {"OutUnwritable", closed({"--out", "/proc/raftperf"}), {"--out", "/proc/raftperf"}},
      {"HdrOutUnwritable",
       closed({"--hdr-out", "/proc/raftperf"}),
       {"--hdr-out", "/proc/raftperf"}},
      {"HdrOutFolderMissing", closed({"--hdr-out", "none/file"}), {"--hdr-out", "none/file"}},
      {"HdrOutIsAFolder", closed({"--hdr-out", "/tmp"}), {"--hdr-out", "/tmp"}},
      {"OutUnwritableForACluster",
       {"run", "libraft", "--out", "/proc/raftperf"},
       {"--out", "/proc/raftperf"}},
  };
}

class BadInput : public ToolTest, public ::testing::WithParamInterface<Mistake> {
 protected:
  /// What lies below the current folder, our own file apart.
  [[nodiscard]] std::vector<std::string> made() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(here())) {
      if (entry.path().filename() != "mine.toml") {
        names.push_back(entry.path());
      }
    }
    return names;
  }
};

TEST_P(BadInput, IsOneLineAndStatusTwo) {
  const Mistake& mistake = GetParam();
  if (!mistake.config.empty()) {
    std::ofstream(here() / "mine.toml") << mistake.config;
  }
  const Ended ended = run(mistake.command, {.environment = mistake.environment});
  EXPECT_EQ(ended.status, kUsage) << ended.err;
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  EXPECT_TRUE(ended.err.starts_with("raftperf: ")) << ended.err;
  for (const std::string& each : mistake.said) {
    EXPECT_NE(ended.err.find(each), std::string::npos) << each << " in: " << ended.err;
  }
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(made(), std::vector<std::string>{});
  EXPECT_FALSE(fs::exists(state() / "runs"));
}

std::string name_of(const ::testing::TestParamInfo<Mistake>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Rate, BadInput, ::testing::ValuesIn(rate_mistakes()), name_of);
INSTANTIATE_TEST_SUITE_P(Value, BadInput, ::testing::ValuesIn(value_mistakes()), name_of);
INSTANTIATE_TEST_SUITE_P(Endpoint, BadInput, ::testing::ValuesIn(endpoint_mistakes()), name_of);
INSTANTIATE_TEST_SUITE_P(Word, BadInput, ::testing::ValuesIn(word_mistakes()), name_of);
INSTANTIATE_TEST_SUITE_P(Source, BadInput, ::testing::ValuesIn(source_mistakes()), name_of);
INSTANTIATE_TEST_SUITE_P(Output, BadInput, ::testing::ValuesIn(output_mistakes()), name_of);

class BadOutput : public ToolTest {};

TEST_F(BadOutput, ARunThatComesToNothingLeavesNoFolders) {
  const fs::path deep = here() / "a" / "b" / "c";
  std::ofstream(here() / "old.txt") << "kept";
  // Somebody else has the port: seen only when the results folder is made.
  stub::StubProcess foreign = start_stub({"--listen", "127.0.0.1:" + port()});
  for (const char* hdr : {"new.txt", "old.txt"}) {
    const Ended ended =
        run({"run", "libraft", "--port-base", port(), "--out", deep, "--hdr-out", hdr});
    EXPECT_GT(ended.status, 0) << ended.err;
    EXPECT_FALSE(fs::exists(here() / "a"));
  }
  EXPECT_FALSE(fs::exists(here() / "new.txt"));
  EXPECT_EQ(read_file(here() / "old.txt"), "kept");
}

// A refused run must leave the folder that it was pointed at as it was.
TEST_F(BadOutput, AFolderWithFilesIsLeftAlone) {
  fs::create_directory(out());
  std::ofstream(out() / "run.json") << "mine";
  const Ended ended = run({"run", "sim", "--warmup", "0s", "--measure", "100ms", "--out", out()});
  EXPECT_EQ(ended.status, kUsage);
  EXPECT_EQ(read_file(out() / "run.json"), "mine");
}

// C67: what must be accepted, and mean what it says.
TEST_F(BadOutput, SuffixesOfRatesAreDecimal) {
  for (const char* text : {"1k", "1e3", "1000/s"}) {
    run({"run", "sim", "--mode", "open", "--rate", text, "--warmup", "0s", "--measure", "500ms",
         "--out", out()});
    EXPECT_EQ(read_record().books.scheduled, 500U) << text;
    fs::remove_all(out());
  }
}

// C71: the measured window is what --measure says, warm-up or not; a drain of 0 is one.
TEST_F(BadOutput, WindowsAreApart) {
  run({"run", "sim", "--mode", "open", "--rate", "100", "--warmup", "1", "--measure", "1500ms",
       "--drain-timeout", "0", "--timeout", "200ms", "--out", out()});
  const auto record = read_record();
  EXPECT_EQ(record.books.scheduled, 150U);
  EXPECT_EQ(record.warmup_books.scheduled, 100U);
  EXPECT_NEAR(record.window.measure_s, 1.5, 1e-9);
  EXPECT_NEAR(record.window.warmup_s, 1, 1e-9);
}

TEST_F(BadOutput, AFullStandardOutputIsNoSuccess) {
  for (const Words& more : {Words{}, Words{"--json"}}) {
    const Ended ended =
        run(Words{"run", "sim", "--warmup", "0s", "--measure", "1200ms", "--out", out()} + more,
            {.out = "/dev/full"});
    EXPECT_GT(ended.status, 0);
    EXPECT_LT(ended.status, 128) << "ended by a signal";
    EXPECT_NE(ended.err.find("standard output"), std::string::npos) << ended.err;
    EXPECT_GT(read_record().books.ok, 0U);
    fs::remove_all(out());
  }
}

TEST_F(BadOutput, AFullStandardErrorEndsNoRun) {
  const Ended ended =
      run({"run", "sim", "--warmup", "0s", "--measure", "1200ms", "--out", out(), "--json"},
          {.err = "/dev/full"});
  EXPECT_LT(ended.status, 128) << "ended by a signal";
  EXPECT_GT(read_record().books.ok, 0U);
}

class FullOutput : public ToolTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(FullOutput, OfOtherCommandsIsNoSuccessEither) {
  const Ended ended = run({GetParam(), "--json"}, {.out = "/dev/full"});
  EXPECT_GT(ended.status, 0);
  EXPECT_NE(ended.err.find("standard output"), std::string::npos) << ended.err;
}

INSTANTIATE_TEST_SUITE_P(Commands, FullOutput, ::testing::Values("systems", "selftest"));

// C65: brackets, and a name that has another address than the server's too.
TEST_F(BadOutput, EitherAddressFamilyAndLocalhost) {
  for (const std::string& host : Words{"127.0.0.1", "[::1]", "localhost"}) {
    auto stub =
        stub::StubProcess::start({"--listen", host == "localhost" ? "127.0.0.1:0" : host + ":0"});
    if (!stub) {
      continue;  // no IPv6 here
    }
    const std::string nodes = host + ":" + std::to_string(stub->endpoint().port);
    const Ended ended =
        run(run_against(nodes, {"--threads", "2", "--warmup", "0s", "--measure", "500ms"}));
    const auto record = read_record();
    EXPECT_GT(record.books.ok, 0U) << nodes << ended.err;
    EXPECT_EQ(record.books.unknown_total(), 0U);
    fs::remove_all(out());
  }
}

TEST_F(BadOutput, AClusterThatIsNotThereIsStatusThree) {
  const std::string nobody = "127.0.0.1:" + port();
  const Ended ended = run(run_against(nobody, {"--warmup", "0s", "--measure", "1s"}));
  EXPECT_EQ(ended.status, 3) << ended.err;
  EXPECT_NE(ended.err.find(nobody), std::string::npos) << ended.err;
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(BadOutput, WaitingForALeaderCanBeInterrupted) {
  Process tool = start(run_against("127.0.0.1:" + port(), {"--warmup", "0s", "--measure", "1s"}));
  std::this_thread::sleep_for(300ms);
  const auto asked = std::chrono::steady_clock::now();
  tool.send_signal(SIGINT);
  EXPECT_EQ(tool.wait(kLong).status, 130);
  EXPECT_LT(std::chrono::steady_clock::now() - asked, 8s);
  EXPECT_FALSE(fs::exists(out()));
}

// C47: not enough descriptors for what was asked is said, never measured around.
TEST_F(BadOutput, TooFewDescriptorsAreSaid) {
  stub::StubProcess stub = start_stub({});
  const Ended ended = run(run_against(to_string(stub.endpoint()),
                                      {"--connections", "40", "--warmup", "0s", "--measure", "1s"}),
                          {.open_files_max = 24});
  EXPECT_GT(ended.status, 0);
  EXPECT_NE(ended.err.find("connections"), std::string::npos) << ended.err;
  EXPECT_FALSE(fs::exists(out() / "run.json"));
}

// Whatever it is that finds none: a run or a line, never an abort.
TEST_F(BadOutput, FewDescriptorsEndInALineOrARecord) {
  stub::StubProcess stub = start_stub({});
  for (const int limit : {5, 8, 10, 12}) {
    const Ended ended =
        run(run_against(to_string(stub.endpoint()), {"--warmup", "0s", "--measure", "300ms"}),
            {.open_files_max = limit});
    SCOPED_TRACE("ulimit -n " + std::to_string(limit) + ": " + ended.err);
    EXPECT_LT(ended.status, 127) << "not started, or ended by a signal";
    if (!fs::exists(out() / "run.json")) {
      EXPECT_GT(ended.status, 0);
      EXPECT_NE(ended.err.find("raftperf: "), std::string::npos);
    }
    fs::remove_all(out());
  }
}

}  // namespace
}  // namespace raftperf::e2e
