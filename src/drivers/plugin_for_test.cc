// SPDX-License-Identifier: Apache-2.0
//
// Plug-ins for registry_test.cc; which one is said when it is compiled.
#include "drivers/registry.h"
#include "drivers/sim/sim_driver.h"

namespace {

using raftperf::Error;
using raftperf::Result;
using raftperf::drivers::DriverConfig;
using raftperf::drivers::DriverFactory;
using raftperf::drivers::DriverPtr;
using raftperf::drivers::kPluginAbi;
using raftperf::drivers::SimDriver;
using raftperf::drivers::SimOptions;

[[maybe_unused]] Result<DriverPtr> create_good(const DriverConfig&) {
  return DriverPtr(std::make_unique<SimDriver>(SimOptions{}));
}

[[maybe_unused]] Result<DriverPtr> create_failing(const DriverConfig&) {
  return Error{"no JVM on this machine"};
}

}  // namespace

#if defined(PLUGIN_GOOD)
extern "C" const DriverFactory* raftperf_driver() {
  static constexpr DriverFactory kFactory{
      .abi = kPluginAbi, .protocol = "good", .create = create_good};
  return &kFactory;
}
#elif defined(PLUGIN_OLD)
extern "C" const DriverFactory* raftperf_driver() {
  static constexpr DriverFactory kFactory{
      .abi = kPluginAbi - 1, .protocol = "old", .create = create_good};
  return &kFactory;
}
#elif defined(PLUGIN_FAILING)
extern "C" const DriverFactory* raftperf_driver() {
  static constexpr DriverFactory kFactory{
      .abi = kPluginAbi, .protocol = "failing", .create = create_failing};
  return &kFactory;
}
#elif defined(PLUGIN_EMPTY)
extern "C" const DriverFactory* raftperf_driver() { return nullptr; }
#endif
