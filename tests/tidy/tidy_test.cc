// SPDX-License-Identifier: Apache-2.0
//
// docs/STYLE.md as a test: what the compiler and clang-tidy do not say, or say too late.
// Every finding is printed with file, line and what to do instead.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace raftperf::tests {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFileLinesMax = 500;
constexpr std::size_t kFunctionLinesMax = 70;
constexpr std::array kTypeWords{"class ", "struct ", "enum ", "union ", "namespace", "constexpr "};
constexpr std::array kFolders{"src", "wire", "systems", "tests", "bench", "docs", "tools"};

struct SourceFile {
  std::string name;  ///< Relative to the root, with slashes.
  std::vector<std::string> lines;

  [[nodiscard]] bool is_cpp() const { return name.ends_with(".cc") || name.ends_with(".h"); }
  [[nodiscard]] bool is_test() const {
    return name.starts_with("tests/") || name.find("_test") != std::string::npos ||
           name.find("conformance") != std::string::npos;
  }
};

const std::vector<SourceFile>& files() {
  static const std::vector<SourceFile> all = [] {
    std::vector<SourceFile> found;
    const fs::path root = RAFTPERF_ROOT;
    for (const char* folder : kFolders) {
      for (auto entry = fs::recursive_directory_iterator(root / folder);
           entry != fs::recursive_directory_iterator(); ++entry) {
        const std::string base = entry->path().filename();
        if (entry->is_directory() && (base == "target" || base == "node_modules")) {
          entry.disable_recursion_pending();
        }
        if (!entry->is_regular_file()) {
          continue;
        }
        SourceFile file{.name = fs::relative(entry->path(), root), .lines = {}};
        std::ifstream stream(entry->path());
        for (std::string line; std::getline(stream, line);) {
          file.lines.push_back(line);
        }
        found.push_back(std::move(file));
      }
    }
    return found;
  }();
  return all;
}

void report(const SourceFile& file, std::size_t line, const std::string& what) {
  ADD_FAILURE() << file.name << ":" << line + 1 << ": " << what;
}

struct Ban {
  std::string_view text;
  std::string_view where;  ///< Prefix of the names it is banned in.
  std::string_view instead;
  bool in_tests;
};

constexpr std::array kBans{
    Ban{"system_clock", "src/load/", "time comes in as an argument, and is monotonic", true},
    Ban{"steady_clock::now", "src/load/", "time comes in as an argument", true},
    Ban{"steady_clock::now", "src/drivers/", "the sink stamps arrivals", false},
    Ban{"sleep_for", "src/load/", "the core never waits", true},
    Ban{"sleep_for", "src/drivers/", "a driver never waits: the rig paces", false},
    Ban{"system_clock", "src/drivers/", "the sink stamps arrivals", true},
    Ban{"std::cout", "src/", "fmt::print, in src/cli", true},
    Ban{"std::cerr", "src/", "fmt::print(stderr, ...)", true},
    Ban{"std::endl", "", "a newline; flush where it is meant", true},
    Ban{" rand()", "", "a seeded generator", true},
    Ban{"std::random_device", "src/load/", "a seed that is in the record", true},
    Ban{"pkill", "", "stop by identity: pid, start time, run token", true},
    Ban{"killall", "", "stop by identity: pid, start time, run token", true},
    Ban{"::system(", "", "an argument vector, no shell", true},
    Ban{"popen(", "", "an argument vector, no shell", true},
    Ban{"#include <iostream>", "src/load/", "no I/O in the core", true},
    Ban{"#include \"run/", "src/load/", "load knows nobody", true},
    Ban{"#include \"drivers/", "src/load/", "load knows nobody", true},
    Ban{"#include \"run/", "src/drivers/", "drivers know load types only", false},
    Ban{"#include \"load/", "src/cluster/", "cluster never touches a latency", true},
    Ban{"#include \"run/", "src/report/", "report knows record only", true},
};

TEST(Tidy, NoBannedWords) {
  for (const SourceFile& file : files()) {
    if (!file.is_cpp() || file.name == "tests/tidy/tidy_test.cc") {
      continue;
    }
    for (const Ban& ban : kBans) {
      if (!file.name.starts_with(ban.where) || (file.is_test() && !ban.in_tests)) {
        continue;
      }
      for (std::size_t i = 0; i < file.lines.size(); ++i) {
        const std::string& line = file.lines[i];
        const std::size_t at = line.find(ban.text);
        if (at != std::string::npos && at < line.find("//")) {
          report(file, i, std::string(ban.text) + ": instead " + std::string(ban.instead));
        }
      }
    }
  }
}

TEST(Tidy, FilesFitOneReading) {
  for (const SourceFile& file : files()) {
    if (file.is_cpp() && file.lines.size() > kFileLinesMax) {
      report(file, kFileLinesMax,
             std::to_string(file.lines.size()) + " lines; a file has at most " +
                 std::to_string(kFileLinesMax));
    }
  }
}

bool ends_statement(const std::string& line) {
  return line.empty() || line.ends_with(";") || line.ends_with("}") || line.ends_with("{") ||
         line.ends_with(":") || line.starts_with("#") || line.find("//") != std::string::npos;
}

bool declares_type(const std::string& line) {
  const std::string text = line.substr(std::min(line.find_first_not_of(' '), line.size()));
  return std::any_of(kTypeWords.begin(), kTypeWords.end(),
                     [&](const char* word) { return text.starts_with(word); });
}

/// Functions stand at the margin, or two spaces in where they are members of a class: a
/// lone `}` there ends what the last statement begun at that margin has opened.
void check_functions(const SourceFile& file, std::size_t indent) {
  const std::string margin(indent, ' ');
  std::size_t begin = 0;
  for (std::size_t i = 1; i < file.lines.size(); ++i) {
    const std::string& line = file.lines[i];
    if (line.find_first_not_of(' ') != indent) {
      continue;
    }
    if (line == margin + "}") {
      if (i - begin > kFunctionLinesMax && !declares_type(file.lines[begin])) {
        report(file, begin,
               "a function of " + std::to_string(i - begin) + " lines; at most " +
                   std::to_string(kFunctionLinesMax));
      }
    } else if (ends_statement(file.lines[i - 1])) {
      begin = i;
    }
  }
}

TEST(Tidy, FunctionsFitAScreen) {
  for (const SourceFile& file : files()) {
    if (file.is_cpp()) {
      check_functions(file, 0);
      check_functions(file, 2);
    }
  }
}

TEST(Tidy, EverySourceNamesItsLicence) {
  for (const SourceFile& file : files()) {
    if (file.is_cpp() &&
        (file.lines.empty() || file.lines[0] != "// SPDX-License-Identifier: Apache-2.0")) {
      report(file, 0, "the first line is // SPDX-License-Identifier: Apache-2.0");
    }
  }
}

TEST(Tidy, NothingIsLeftForLater) {
  const std::string todo = std::string("TO") + "DO";
  const std::string fixme = std::string("FIX") + "ME";
  for (const SourceFile& file : files()) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      if (file.lines[i].find(todo) != std::string::npos ||
          file.lines[i].find(fixme) != std::string::npos) {
        report(file, i, "do it, or write an issue and leave the code");
      }
    }
  }
}

TEST(Tidy, DocumentsHaveOneTitle) {
  for (const SourceFile& file : files()) {
    if (!file.name.ends_with(".md")) {
      continue;
    }
    bool fenced = false;
    std::size_t titles = 0;
    for (const std::string& line : file.lines) {
      fenced = line.starts_with("```") ? !fenced : fenced;
      titles += !fenced && line.starts_with("# ") ? 1U : 0U;
    }
    EXPECT_EQ(titles, 1U) << file.name;
  }
}

}  // namespace
}  // namespace raftperf::tests
