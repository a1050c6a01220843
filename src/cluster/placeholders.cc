// SPDX-License-Identifier: Apache-2.0
#include "cluster/placeholders.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"

namespace raftperf::cluster {

Result<std::string> expand_placeholders(std::string_view text, const PlaceholderValue& value,
                                        const std::vector<std::string>& known) {
  std::string expanded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c != '{' && c != '}') {
      expanded += c;
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == c) {
      expanded += c;
      ++i;
      continue;
    }
    const std::size_t end = text.find('}', i);
    if (c == '}' || end == std::string_view::npos) {
      return Error{
          fmt::format("'{}' has a brace without its other; {{{{ and }}}} stand for "
                      "braces themselves",
                      text)};
    }
    const std::string_view name = text.substr(i + 1, end - i - 1);
    const auto replacement = value(name);
    if (!replacement) {
      return Error{fmt::format("'{}' has no placeholder {{{}}}; allowed: {}{}", text, name,
                               fmt::join(known, ", "), did_you_mean(name, known))};
    }
    expanded += *replacement;
    i = end;
  }
  return expanded;
}

std::vector<std::string> placeholder_names(const std::vector<std::string>& ports) {
  std::vector<std::string> names{"executable", "build",    "system",   "node",
                                 "host",       "data_dir", "run_token"};
  for (const std::string& port : ports) {
    for (const char* kind : {"nodes.", "address.", "port."}) {
      names.push_back(kind + port);
    }
  }
  return names;
}

}  // namespace raftperf::cluster
