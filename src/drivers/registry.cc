// SPDX-License-Identifier: Apache-2.0
#include "drivers/registry.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/nearest.h"
#include "drivers/sim/sim_driver.h"
#include "drivers/wire/wire_driver.h"

namespace raftperf::drivers {
namespace {

constexpr std::string_view kPluginPrefix = "raftperf-driver-";
constexpr std::string_view kPluginSuffix = ".so";

Result<DriverPtr> create_sim(const DriverConfig& config) {
  auto options = SimDriver::read_settings(config.settings);
  if (!options) {
    return Error{options.error()};
  }
  return DriverPtr(std::make_unique<SimDriver>(*options));
}

constexpr std::array kBuiltIn{
    DriverFactory{.abi = kPluginAbi, .protocol = "sim", .create = create_sim},
    DriverFactory{.abi = kPluginAbi, .protocol = "wire", .create = WireDriver::create},
};

Result<const DriverFactory*> load_plugin(const std::filesystem::path& path) {
  // Never closed: a client library may have started threads of its own.
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Error{fmt::format("plug-in cannot be loaded: {}", ::dlerror())};
  }
  using Entry = const DriverFactory* (*)();
  const auto entry = reinterpret_cast<Entry>(::dlsym(library, kPluginSymbol));
  if (entry == nullptr) {
    return Error{
        fmt::format("{} is no driver plug-in: it exports no {}", path.string(), kPluginSymbol)};
  }
  const DriverFactory* factory = entry();
  if (factory == nullptr) {
    return Error{fmt::format("{} offers no driver", path.string())};
  }
  // First of all: what follows in the structure may differ between interfaces.
  if (factory->abi != kPluginAbi) {
    return Error{
        fmt::format("{} was built for plug-in interface {}, this raftperf has {}: build "
                    "it again",
                    path.string(), factory->abi, kPluginAbi)};
  }
  if (factory->create == nullptr) {
    return Error{fmt::format("{} offers no driver", path.string())};
  }
  return factory;
}

}  // namespace

std::vector<std::string> known_protocols(const std::filesystem::path& plugin_dir) {
  std::vector<std::string> protocols;
  for (const DriverFactory& factory : kBuiltIn) {
    protocols.emplace_back(factory.protocol);
  }
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(plugin_dir, ignored)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(kPluginPrefix) && name.ends_with(kPluginSuffix)) {
      protocols.push_back(name.substr(kPluginPrefix.size(),
                                      name.size() - kPluginPrefix.size() - kPluginSuffix.size()));
    }
  }
  std::sort(protocols.begin(), protocols.end());
  return protocols;
}

Result<const DriverFactory*> find_driver(const std::string& protocol,
                                         const std::filesystem::path& plugin_dir) {
  const auto* built_in =
      std::find_if(kBuiltIn.begin(), kBuiltIn.end(),
                   [&](const DriverFactory& factory) { return factory.protocol == protocol; });
  if (built_in != kBuiltIn.end()) {
    return built_in;
  }
  const auto known = known_protocols(plugin_dir);
  if (std::find(known.begin(), known.end(), protocol) == known.end()) {
    return Error{fmt::format("no driver for protocol '{}' in {}{}", protocol, plugin_dir.string(),
                             did_you_mean(protocol, known))};
  }
  return load_plugin(plugin_dir / fmt::format("{}{}{}", kPluginPrefix, protocol, kPluginSuffix));
}

}  // namespace raftperf::drivers
