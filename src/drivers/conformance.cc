// SPDX-License-Identifier: Apache-2.0
#include "drivers/conformance.h"

#include <gtest/gtest.h>

namespace raftperf::drivers::conformance {
namespace {

using MakeHarness = std::function<std::unique_ptr<Harness>()>;

class CaseTest final : public testing::Test {
 public:
  CaseTest(const Case& which, MakeHarness make) : case_(which), make_(std::move(make)) {}
  void TestBody() override { case_.run(*make_()); }

 private:
  const Case& case_;
  MakeHarness make_;
};

}  // namespace

bool register_cases(const std::string& suite, MakeHarness make) {
  for (const auto cases : {operation_cases(), stream_cases(), link_cases(), address_cases()}) {
    for (const Case& each : cases) {
      testing::RegisterTest(suite.c_str(), each.name, nullptr, nullptr, __FILE__, __LINE__,
                            [&each, make]() -> testing::Test* { return new CaseTest(each, make); });
    }
  }
  return true;
}

}  // namespace raftperf::drivers::conformance
