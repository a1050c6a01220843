// SPDX-License-Identifier: Apache-2.0
#include "wire/cpp/test_vectors.h"

#include <charconv>
#include <fstream>
#include <sstream>

#include "base/check.h"

namespace raftperf::wire {
namespace {

std::byte parse_byte(const std::string& digits) {
  unsigned value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  CHECK(code == std::errc{} && end == digits.data() + digits.size() && digits.size() == 2);
  return static_cast<std::byte>(value);
}

template <typename T>
T parse_number(const std::string& text) {
  const bool hexadecimal = text.starts_with("0x");
  const char* begin = text.data() + (hexadecimal ? 2 : 0);
  T value{};
  const auto [end, code] =
      std::from_chars(begin, text.data() + text.size(), value, hexadecimal ? 16 : 10);
  CHECK(code == std::errc{} && end == text.data() + text.size());
  return value;
}

}  // namespace

const std::string& TestVector::text(const std::string& field) const {
  const auto found = fields_.find(field);
  CHECK(found != fields_.end());
  return found->second;
}

Bytes TestVector::bytes(const std::string& field) const {
  Bytes bytes;
  std::istringstream words(text(field));
  for (std::string word; words >> word;) {
    if (const std::size_t star = word.find('*'); star != std::string::npos) {
      bytes.insert(bytes.end(), parse_number<std::size_t>(word.substr(star + 1)),
                   parse_byte(word.substr(0, star)));
      continue;
    }
    for (std::size_t at = 0; at < word.size(); at += 2) {
      bytes.push_back(parse_byte(word.substr(at, 2)));
    }
  }
  return bytes;
}

std::uint64_t TestVector::number(const std::string& field) const {
  return parse_number<std::uint64_t>(text(field));
}

std::int32_t TestVector::node(const std::string& field) const {
  return parse_number<std::int32_t>(text(field));
}

std::vector<TestVector> read_vectors(const std::string& name) {
  std::ifstream file("wire/vectors/" + name);
  CHECK(file.is_open());
  std::vector<TestVector> vectors;
  bool within = false;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') {
      within = within && !line.empty();
      continue;
    }
    if (!within) {
      vectors.emplace_back();
      within = true;
    }
    const std::size_t space = line.find(' ');
    vectors.back().set(line.substr(0, space),
                       space == std::string::npos ? "" : line.substr(space + 1));
  }
  return vectors;
}

}  // namespace raftperf::wire
