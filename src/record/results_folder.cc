// SPDX-License-Identifier: Apache-2.0
#include "record/results_folder.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/file_descriptor.h"

namespace raftperf::record {
namespace {

namespace fs = std::filesystem;

Error failed(const fs::path& path, int code) {
  return Error{fmt::format("{}: {}", path.string(), std::strerror(code))};
}

Result<void> try_writing(const fs::path& folder) {
  const fs::path probe = folder / ".writable";
  const FileDescriptor fd(::open(probe.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  if (!fd.valid()) {
    return failed(folder, errno);
  }
  ::unlink(probe.c_str());
  return {};
}

/// The folder itself and what is above it, as far as it is not there; innermost first.
std::vector<fs::path> missing(fs::path folder) {
  std::vector<fs::path> folders;
  std::error_code ignored;
  for (; !folder.empty() && !fs::exists(folder, ignored); folder = folder.parent_path()) {
    folders.push_back(folder);
  }
  return folders;
}

void remove_if_empty(const std::vector<fs::path>& folders) noexcept {
  std::error_code ignored;
  for (const fs::path& folder : folders) {
    fs::remove(folder, ignored);  // not if anyone else has put a file there
  }
}

/// Makes the folder and what is missing above it, and tells what it made: without the
/// folder itself where that was there.
Result<std::vector<fs::path>> make(const fs::path& folder) {
  std::vector<fs::path> made = missing(folder);
  std::error_code code;
  if (folder.has_parent_path()) {
    fs::create_directories(folder.parent_path(), code);
  }
  const bool is_new = !code && fs::create_directory(folder, code);
  if (!is_new && !made.empty() && made.front() == folder) {
    made.erase(made.begin());  // somebody else was faster
  }
  Result<void> writable = code ? failed(folder, code.value()) : try_writing(folder);
  if (!writable) {
    remove_if_empty(made);
    return Error{writable.error()};
  }
  return made;
}

Result<void> write_all(int fd, const std::string& text) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = ::write(fd, text.data() + written, text.size() - written);
    if (n < 0 && errno != EINTR) {
      return Error{std::strerror(errno)};
    }
    written += n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  return ::fsync(fd) == 0 ? Result<void>() : Result<void>(Error{std::strerror(errno)});
}

}  // namespace

Result<void> write_whole(const fs::path& path, const std::string& text) {
  const fs::path temporary = path.string() + ".part";
  {
    const FileDescriptor fd(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!fd.valid()) {
      return failed(path, errno);
    }
    if (const auto written = write_all(fd.get(), text); !written) {
      ::unlink(temporary.c_str());
      return Error{fmt::format("{}: {}", path.string(), written.error())};
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int code = errno;
    ::unlink(temporary.c_str());
    return failed(path, code);
  }
  return {};
}

Result<ResultsFolder> ResultsFolder::create(const std::optional<fs::path>& named,
                                            const std::string& system, const std::string& what,
                                            std::chrono::system_clock::time_point now) {
  if (named) {
    std::error_code ignored;
    if (fs::exists(*named, ignored) &&
        (!fs::is_directory(*named, ignored) || !fs::is_empty(*named, ignored))) {
      return Error{fmt::format("{}: exists and is not an empty folder", named->string())};
    }
    const auto made = make(*named);
    if (!made) {
      return Error{made.error()};
    }
    return ResultsFolder(*named, Naming::kUsers, *made);
  }
  const auto seconds = std::chrono::system_clock::to_time_t(now);
  const std::string name =
      fmt::format("{:%Y%m%dT%H%M%SZ}-{}-{}", fmt::gmtime(seconds), system, what);
  // Two runs within a second do not share a folder: whoever makes it has it.
  for (int i = 1;; ++i) {
    const fs::path path = fs::path("results") / (i == 1 ? name : fmt::format("{}-{}", name, i));
    std::error_code ignored;
    if (fs::exists(path.string() + ".INVALID", ignored)) {
      continue;
    }
    const auto made = make(path);
    if (!made) {
      return Error{made.error()};
    }
    if (!made->empty() && made->front() == path) {
      return ResultsFolder(path, Naming::kOurs, *made);
    }
  }
}

Result<void> ResultsFolder::write(const RunRecord& record) const {
  return write_whole(file("run.json"), to_json(record).dump(2) + "\n");
}

Result<void> ResultsFolder::mark_invalid() {
  if (naming_ == Naming::kUsers) {
    return write_whole(file("INVALID"), "The rig's judgement on this run: see run.json.\n");
  }
  const fs::path marked = path_.string() + ".INVALID";
  if (::rename(path_.c_str(), marked.c_str()) != 0) {
    return failed(marked, errno);
  }
  path_ = marked;
  return {};
}

void ResultsFolder::discard() noexcept {
  std::error_code ignored;
  for (const char* name : {"run.json", "run.json.part", "run.hlog", "timeline.csv", "INVALID"}) {
    fs::remove(path_ / name, ignored);
  }
  remove_if_empty(made_);
}

Result<RunRecord> read_record(const fs::path& path) {
  std::ifstream file(path);
  if (!file) {
    return failed(path, errno);
  }
  const Json json = Json::parse(file, nullptr, false);
  if (json.is_discarded()) {
    return Error{fmt::format("{}: not whole JSON: was the run cut short?", path.string())};
  }
  auto record = from_json(json);
  if (!record) {
    return Error{fmt::format("{}: {}", path.string(), record.error())};
  }
  return record;
}

}  // namespace raftperf::record
