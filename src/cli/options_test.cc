// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace raftperf::cli {
namespace {

/// Options of `raftperf run` from flags, variables and a file.
struct Resolved {
  explicit Resolved(const std::vector<std::string>& flags, const std::string& config = {})
      : options(run_options()) {
    CLI::App app;
    options.add_to(app);
    std::vector<std::string> reversed(flags.rbegin(), flags.rend());  // as CLI11 wants it
    try {
      app.parse(reversed);
    } catch (const CLI::ParseError& parse_error) {
      error = parse_error.what();
      return;
    }
    if (const auto resolved = options.resolve(config); !resolved) {
      error = resolved.error();
    }
  }

  [[nodiscard]] std::string source(std::string_view name) const {
    for (const auto& record : options.records()) {
      if (record.name == name) {
        return record.source;
      }
    }
    return "not recorded";
  }

  Options options;
  std::string error;
};

class OptionSources : public testing::Test {
 protected:
  OptionSources() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "raftperf-options-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  ~OptionSources() override {
    ::unsetenv("RAFTPERF_TIMEOUT");
    ::unsetenv("RAFTPERF_MAX_INFLIGHT");
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::string config(const std::string& text) {
    const auto path = folder_ / "run.toml";
    std::ofstream(path) << text;
    return path.string();
  }
  std::filesystem::path folder_;
};

TEST_F(OptionSources, DefaultsComeFromTheTable) {
  const Resolved resolved({});
  EXPECT_EQ(resolved.error, "");
  EXPECT_EQ(resolved.options.text("timeout"), "5s");
  EXPECT_EQ(resolved.options.duration("timeout"), std::chrono::seconds{5});
  EXPECT_EQ(resolved.options.count("threads"), 100U);
  EXPECT_EQ(resolved.source("timeout"), "default");
  EXPECT_FALSE(resolved.options.given("timeout"));
  EXPECT_FALSE(resolved.options.has_value("rate"));
  for (const OptionSpec& spec : run_options()) {
    if (!spec.standard.empty()) {
      EXPECT_TRUE(spec.check(std::string(spec.standard)).ok()) << spec.name;
    }
  }
}

TEST_F(OptionSources, AFlagBeatsTheEnvironmentBeatsTheFile) {
  const std::string file = config("timeout = \"9s\"\nthreads = 7\nburst = 3\n");
  ::setenv("RAFTPERF_TIMEOUT", "8s", 1);
  const Resolved from_environment({}, file);
  EXPECT_EQ(from_environment.error, "");
  EXPECT_EQ(from_environment.options.text("timeout"), "8s");
  EXPECT_EQ(from_environment.source("timeout"), "environment");
  EXPECT_EQ(from_environment.options.text("threads"), "7");
  EXPECT_EQ(from_environment.source("threads"), "file");
  // C69: given is given, although 5s is the default's.
  const Resolved from_flag({"--timeout", "5s"}, file);
  EXPECT_EQ(from_flag.options.text("timeout"), "5s");
  EXPECT_EQ(from_flag.source("timeout"), "flag");
  EXPECT_TRUE(from_flag.options.given("timeout"));
  const Resolved with_equals({"--timeout=7s", "--timeout=6s"});
  EXPECT_EQ(with_equals.options.text("timeout"), "6s") << "the last one counts";
}

TEST_F(OptionSources, ADefaultOfTheSystemYieldsToWhatWasGiven) {
  Resolved resolved({"--max-inflight", "5"});
  resolved.options.set_default("max-inflight", "9", "system");
  resolved.options.set_default("durability", "fsync", "system");
  EXPECT_EQ(resolved.options.text("max-inflight"), "5");
  EXPECT_EQ(resolved.options.text("durability"), "fsync");
  EXPECT_EQ(resolved.source("durability"), "system");
  EXPECT_FALSE(resolved.options.given("durability"));
}

TEST_F(OptionSources, DashesAreUnderscoresElsewhere) {
  ::setenv("RAFTPERF_MAX_INFLIGHT", "77", 1);
  EXPECT_EQ(Resolved({}).options.text("max-inflight"), "77");
  ::unsetenv("RAFTPERF_MAX_INFLIGHT");
  EXPECT_EQ(Resolved({}, config("max_inflight = 78\n")).options.text("max-inflight"), "78");
  EXPECT_EQ(Resolved({}).source("max_inflight"), "default");
}

TEST_F(OptionSources, AFileMayHoldNumbersTextsAndBooleans) {
  const Resolved resolved({}, config("rate = 0.5\nwarmup = 2\nverify = false\nmode = \"open\"\n"));
  EXPECT_EQ(resolved.error, "");
  EXPECT_EQ(resolved.options.text("rate"), "0.5");
  EXPECT_EQ(resolved.options.duration("warmup"), std::chrono::seconds{2});
  EXPECT_EQ(resolved.options.text("verify"), "off");
}

TEST_F(OptionSources, AMistakeInAFileIsFound) {
  const auto error = [&](const std::string& text) { return Resolved({}, config(text)).error; };
  EXPECT_NE(error("\ntimout = 3\n").find(":2: timout: unknown option; did you mean 'timeout'?"),
            std::string::npos);
  EXPECT_NE(error("[run]\nrate = 3\n").find("run: unknown option"), std::string::npos);
  EXPECT_NE(error("rate = [1]\n").find("rate: must be a string, a number or a boolean"),
            std::string::npos);
  EXPECT_NE(error("rate = -1\n").find("--rate '-1': not a rate"), std::string::npos);
  EXPECT_NE(error("rate = nan\n").find("--rate 'nan': not a rate"), std::string::npos);
  EXPECT_NE(error("rate = \n").find(":1: "), std::string::npos);
  EXPECT_NE(Resolved({}, "missing.toml").error.find("missing.toml"), std::string::npos);
}

TEST_F(OptionSources, AMistakeInTheEnvironmentNamesTheVariable) {
  ::setenv("RAFTPERF_TIMEOUT", "soon", 1);
  EXPECT_TRUE(Resolved({}).error.starts_with("RAFTPERF_TIMEOUT: --timeout 'soon': not a duration"));
}

/// The parser itself refuses a flag without a value, so an empty one comes as a variable.
std::string error_of(const std::string& name, const std::string& text) {
  if (!text.empty()) {
    return Resolved({"--" + name + "=" + text}).error;
  }
  std::string variable = "RAFTPERF_" + name;
  std::replace(variable.begin(), variable.end(), '-', '_');
  std::transform(variable.begin(), variable.end(), variable.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  ::setenv(variable.c_str(), "", 1);
  const std::string error = Resolved({}).error;
  ::unsetenv(variable.c_str());
  return error;
}

/// Nonsense of groups C63, C67 and C71, for every option with a number, word or list.
TEST(OptionValues, NonsenseIsRefusedInOneLine) {
  const std::vector<std::string> numbers{"0",
                                         "-1",
                                         "nan",
                                         "inf",
                                         "1e999",
                                         "",
                                         "1Ki",
                                         "1_000",
                                         "1,000",
                                         "10 00",
                                         "1.5.2",
                                         "1k5",
                                         "+3",
                                         "0x10",
                                         "ten",
                                         " 3",
                                         "3 ",
                                         "1e",
                                         "99999999999999999999999"};
  const std::vector<std::string> words{"", "Open", "opne", "none", "1", "open "};
  const std::map<std::string, std::pair<std::vector<std::string>, std::vector<std::string>>> cases{
      // name: what is refused, and which of the nonsense is right for it
      {"rate", {numbers, {}}},
      {"threads", {numbers, {}}},
      {"burst", {numbers, {}}},
      {"max-inflight", {numbers, {}}},
      {"workers", {numbers, {}}},
      {"connections", {numbers, {}}},
      {"cluster-size", {numbers, {}}},
      {"port-base", {numbers, {}}},
      {"value-size", {numbers, {"1Ki"}}},
      {"seed", {numbers, {"0"}}},
      {"warmup", {numbers, {"0"}}},
      {"drain-timeout", {numbers, {"0"}}},
      {"measure", {numbers, {}}},
      {"timeout", {numbers, {}}},
      {"mode", {words, {}}},
      {"pace", {words, {}}},
      {"arrival", {words, {}}},
      {"send-stamp", {words, {}}},
      {"no-leader", {words, {}}},
      {"profile", {words, {}}},
      {"durability", {words, {}}},
      {"verify", {words, {}}},
      {"leader", {{"", "node", "node-1", "nodex", "Any", "leader"}, {}}},
      {"nodes", {{"", "host", "host:", ":1", "a:1,", "a:0", "a:70000", "a:1,,b:2"}, {}}},
      {"out", {{""}, {}}},
      {"hdr-out", {{""}, {}}},
  };
  for (const auto& [name, refused] : cases) {
    for (const std::string& text : refused.first) {
      const auto& fine = refused.second;
      if (std::find(fine.begin(), fine.end(), text) != fine.end()) {
        EXPECT_EQ(Resolved({"--" + name + "=" + text}).error, "") << name << " " << text;
        continue;
      }
      const std::string error = error_of(name, text);
      EXPECT_NE(error, "") << name << " took '" << text << "'";
      EXPECT_NE(error.find("--" + name), std::string::npos) << error;
      EXPECT_NE(error.find("'" + text + "'"), std::string::npos) << error;
      EXPECT_NE(error.find("example"), std::string::npos) << error;
      EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    }
  }
  for (const OptionSpec& spec : run_options()) {
    EXPECT_TRUE(cases.contains(std::string(spec.name)) || spec.name == "set") << spec.name;
  }
}

TEST(OptionValues, ARangeIsNamed) {
  EXPECT_EQ(Resolved({"--threads", "0"}).error,
            "--threads '0': a whole number from 1 to 1000000; example: 100");
  EXPECT_EQ(Resolved({"--mode", "opne"}).error,
            "--mode 'opne': one of open, closed; did you mean 'open'?; example: open");
  EXPECT_EQ(Resolved({"--measure", "0"}).error, "--measure '0': from 1ms to 86400s; example: 30s");
  EXPECT_EQ(Resolved({"--measure", "25h"}).error,
            "--measure '25h': from 1ms to 86400s; example: 30s");
}

TEST(OptionValues, SuffixesAreDecimalForRatesAndBinaryWithAnI) {  // C67
  for (const char* text : {"1k", "1K", "1e3", "1000", "1000/s"}) {
    EXPECT_EQ(Resolved({"--rate", text}).error, "") << text;
  }
  EXPECT_EQ(Resolved({"--value-size", "1Ki"}).error, "");
  EXPECT_EQ(Resolved({"--warmup", "1m30s"}).options.duration("warmup"), std::chrono::seconds{90});
  EXPECT_EQ(Resolved({"--warmup", "10"}).options.duration("warmup"), std::chrono::seconds{10});
}

TEST(OptionValues, AMissingValueIsAnError) {
  EXPECT_NE(Resolved({"--rate"}).error, "");
  EXPECT_NE(Resolved({"--rate="}).error, "");
  EXPECT_NE(Resolved({"--rate", "5", "--mode"}).error, "");
}

TEST(OptionValues, WhatWasTypedDoesNotReachTheTerminal) {
  const std::string error = Resolved({"--mode", "\x1b[2Jx"}).error;
  EXPECT_EQ(error.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace raftperf::cli
