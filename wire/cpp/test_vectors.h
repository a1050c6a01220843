// SPDX-License-Identifier: Apache-2.0
//
// For tests: reads the files of wire/vectors (its README.md has the format).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace raftperf::wire {

using Bytes = std::vector<std::byte>;

/// One vector: its fields by name.
class TestVector {
 public:
  void set(const std::string& field, std::string value) { fields_[field] = std::move(value); }
  [[nodiscard]] bool empty() const noexcept { return fields_.empty(); }
  [[nodiscard]] bool has(const std::string& field) const { return fields_.contains(field); }

  // Each REQUIRES that the field is there and well formed, since a test reads them.
  [[nodiscard]] const std::string& text(const std::string& field) const;
  [[nodiscard]] Bytes bytes(const std::string& field) const;
  [[nodiscard]] std::uint64_t number(const std::string& field) const;
  [[nodiscard]] std::int32_t node(const std::string& field) const;

 private:
  std::map<std::string, std::string> fields_;
};

/// All vectors of wire/vectors/<name>, read from the source root.
std::vector<TestVector> read_vectors(const std::string& name);

}  // namespace raftperf::wire
