// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace raftperf::cluster {

/// The value of a placeholder, or nothing if there is none of that name.
using PlaceholderValue = std::function<std::optional<std::string>(std::string_view name)>;

/// Replaces every `{name}` of `text`; `{{` and `}}` stand for the braces themselves.
/// `known` is for the message about an unknown one.
Result<std::string> expand_placeholders(std::string_view text, const PlaceholderValue& value,
                                        const std::vector<std::string>& known);

/// The names that a start command may use for the given port names: executable, build,
/// system, node, host, data_dir, run_token, and for each port nodes.P, address.P, port.P.
std::vector<std::string> placeholder_names(const std::vector<std::string>& ports);

}  // namespace raftperf::cluster
