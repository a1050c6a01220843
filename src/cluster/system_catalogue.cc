// SPDX-License-Identifier: Apache-2.0
#include "cluster/system_catalogue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <system_error>

#include "base/nearest.h"
#include "cluster/placeholders.h"

namespace raftperf::cluster {
namespace {

namespace fs = std::filesystem;

Result<std::vector<fs::path>> system_files(const fs::path& root) {
  std::vector<fs::path> files;
  std::error_code code;
  for (fs::directory_iterator entry(root / "systems", code), end; !code && entry != end;
       entry.increment(code)) {
    const fs::path file = entry->path() / "system.toml";
    std::error_code ignored;
    if (fs::exists(file, ignored)) {
      files.push_back(file);
    }
  }
  if (code) {
    return Error{fmt::format("{}: {}", (root / "systems").string(), code.message())};
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool is_program(const fs::path& path) {
  std::error_code code;
  return fs::is_regular_file(path, code) && ::access(path.c_str(), X_OK) == 0;
}

fs::path find_in_path(const std::string& name, const fs::path& build) {
  const char* variable = std::getenv("PATH");
  std::istringstream directories(variable != nullptr ? variable : "");
  std::string directory;
  while (std::getline(directories, directory, ':')) {
    if (!directory.empty() && is_program(fs::path(directory) / name)) {
      return fs::absolute(fs::path(directory) / name);
    }
  }
  return build / name;
}

fs::path resolve(const SystemDescriptor& system, const fs::path& build) {
  const auto expanded = expand_placeholders(
      system.executable,
      [&](std::string_view name) -> std::optional<std::string> {
        if (name == "build") {
          return fs::absolute(build).string();
        }
        return name == "system" ? std::optional<std::string>(system.folder.string()) : std::nullopt;
      },
      {"build", "system"});
  const fs::path written = expanded ? *expanded : system.executable;
  if (written.is_absolute()) {
    return written;
  }
  if (written.has_parent_path()) {
    return system.folder / written;
  }
  const fs::path built = fs::absolute(build) / written;
  return is_program(built) ? built : find_in_path(written.string(), fs::absolute(build));
}

}  // namespace

Result<SystemCatalogue> SystemCatalogue::scan(const fs::path& root) {
  auto files = system_files(root);
  if (!files) {
    return Error{files.error()};
  }
  SystemCatalogue catalogue;
  for (const fs::path& file : *files) {
    auto system = load_system(file);
    if (system) {
      catalogue.systems.push_back(*std::move(system));
    } else {
      catalogue.broken.push_back(Error{system.error()});
    }
  }
  return catalogue;
}

Result<SystemDescriptor> find_system(const fs::path& root, std::string_view name) {
  auto files = system_files(root);
  if (!files) {
    return Error{files.error()};
  }
  std::vector<std::string> names;
  for (const fs::path& file : *files) {
    names.push_back(file.parent_path().filename().string());
    if (names.back() == name) {
      return load_system(file);
    }
  }
  return Error{fmt::format("system '{}' is not known; allowed: {}{}", name, fmt::join(names, ", "),
                           did_you_mean(name, names))};
}

Availability find_executable(const SystemDescriptor& system, const fs::path& build) {
  Availability found{.built = false, .executable = resolve(system, build), .remedy = {}};
  found.built = is_program(found.executable);
  if (!found.built) {
    found.remedy = fmt::format("{} is not there", found.executable.string());
    if (!system.how_to_get.empty()) {
      found.remedy += fmt::format("; needs: {}", system.how_to_get);
    }
    if (!system.build.empty()) {
      found.remedy += fmt::format("; build it with: {}", system.build);
    }
  }
  return found;
}

}  // namespace raftperf::cluster
