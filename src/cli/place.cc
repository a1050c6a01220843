// SPDX-License-Identifier: Apache-2.0
#include "cli/place.h"

#include <cstdlib>

namespace raftperf::cli {

Place Place::find() {
  Place place;
  std::error_code ignored;
  place.executable = std::filesystem::read_symlink("/proc/self/exe", ignored);
  place.build = place.executable.parent_path();
  if (const char* root = std::getenv("RAFTPERF_ROOT"); root != nullptr) {
    place.root = root;
    return place;
  }
  for (auto folder = place.build; folder.has_relative_path(); folder = folder.parent_path()) {
    if (std::filesystem::is_directory(folder / "systems", ignored)) {
      place.root = folder;
      return place;
    }
  }
  place.root = std::filesystem::current_path(ignored);
  return place;
}

}  // namespace raftperf::cli
