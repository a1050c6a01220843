// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace raftperf {

/// How many single characters must be inserted, removed, replaced or swapped with their
/// neighbour to turn `a` into `b` (optimal string alignment). Quadratic; for words a
/// person types.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_above(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    two_above.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, row[j - 1] + 1, above[j] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], two_above[j - 2] + 1);
      }
    }
  }
  return row.back();
}

/// The known word that a mistyped one most likely meant, or "" where none is close:
/// more than a third of the letters wrong (but one is always allowed) is a guess.
/// Among equally near words the first wins. `Words` is any range of strings.
template <typename Words>
std::string nearest(std::string_view word, const Words& known) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const auto& candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = std::string(candidate);
    }
  }
  return best;
}

/// "; did you mean 'libraft'?", or "" where no known word is close. For the end of an
/// error line.
template <typename Words>
std::string did_you_mean(std::string_view word, const Words& known) {
  const std::string best = nearest(word, known);
  return best.empty() ? std::string() : "; did you mean '" + best + "'?";
}

}  // namespace raftperf
