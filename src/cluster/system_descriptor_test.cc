// SPDX-License-Identifier: Apache-2.0
#include "cluster/system_descriptor.h"

#include <gtest/gtest.h>

#include "cluster/cluster_layout.h"
#include "cluster/data_directory.h"
#include "cluster/fixture_for_test.h"
#include "cluster/placeholders.h"
#include "cluster/start_command.h"
#include "cluster/system_catalogue.h"

namespace raftperf::cluster {
namespace {

namespace fs = std::filesystem;

class SystemDescriptorTest : public ClusterTest {
 protected:
  fs::path file() const { return directory_ / "systems/fake/system.toml"; }

  /// Loads the fake system's file with one part replaced.
  Result<SystemDescriptor> load_with(const std::string& part, const std::string& replacement) {
    if (original_.empty()) {
      original_ = read_file(file());
    }
    std::string content = original_;
    const std::size_t at = content.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    write_file(file(), content.replace(at, part.size(), replacement));
    return load_system(file());
  }

  void expect_mistake(const std::string& part, const std::string& replacement,
                      const std::string& message) {
    auto loaded = load_with(part, replacement);
    ASSERT_FALSE(loaded.ok()) << replacement;
    EXPECT_NE(loaded.error().find(message), std::string::npos) << loaded.error();
    EXPECT_TRUE(loaded.error().starts_with(file().string())) << loaded.error();
    EXPECT_EQ(loaded.error().find('\n'), std::string::npos) << loaded.error();
  }

  std::string original_;
};

TEST_F(SystemDescriptorTest, ReadsAWholeFile) {
  auto loaded = load_with("[profiles.uniform]", R"([leader]
move = "none"
[start.env]
NODE = "{node}"
[knobs.heartbeat]
flag = "--heartbeat-ms="
default = 100
unit = "ms"
description = "how often"
[profiles.native]
operation = "set"
request_bytes = 32
[profiles.native.http]
method = "POST"
ok = 200
[profiles.uniform])");
  ASSERT_TRUE(loaded.ok()) << loaded.error();
  EXPECT_EQ(loaded->name, "fake");
  EXPECT_EQ(loaded->ports.at("client"), 8300);
  EXPECT_EQ(loaded->durability.at("fsync").medium, DataMedium::kDisk);
  EXPECT_EQ(loaded->knobs.at("heartbeat").kind, SystemDescriptor::ValueKind::kInteger);
  EXPECT_EQ(loaded->knobs.at("heartbeat").unit, "ms");
  EXPECT_EQ(loaded->profiles.at("native").operation, SystemDescriptor::Operation::kSet);
  EXPECT_EQ(loaded->profiles.at("native").http.at("ok"), "200");
  EXPECT_EQ(loaded->leader_find, SystemDescriptor::LeaderControl::kProtocol);
  EXPECT_EQ(loaded->leader_move, SystemDescriptor::LeaderControl::kNone);
  EXPECT_FALSE(loaded->in_flight_max);
}

TEST_F(SystemDescriptorTest, EveryMistakeNamesFileLineKeyAndWhatIsAllowed) {
  expect_mistake("title =", "titel =", "titel: is not known; allowed: name, title");
  expect_mistake("title =", "titel =", "did you mean 'title'?");
  expect_mistake("name = \"fake\"", "name = \"other\"", ":1: name: 'other' is not the name");
  expect_mistake("version = \"1\"", "version = 1", ":4: version: is not a text; the version of");
  expect_mistake("licence = \"Apache-2.0\"", "", "licence: is missing; an SPDX expression");
  expect_mistake("client = 8300", "client = 0", "ports.client: 0 is not allowed; a whole number");
  expect_mistake("client = 8300", "clint = 8300", "ports: is missing or has no 'client'");
  expect_mistake("client = 8300", "client = \"8300\"", "ports.client: 8300 is not allowed");
  expect_mistake("\"{node}\"", "7", "start.command: has an element that is no string");
  expect_mistake("{node}", "{nodee}", "no placeholder {nodee}");
  expect_mistake("{node}", "{nodee}", "did you mean 'node'?");
  expect_mistake("{address.client}", "{address.peer}", "no placeholder {address.peer}");
  expect_mistake("{node}", "{node", "a brace without its other");
  expect_mistake("default = \"memory\"", "default = \"memori\"", "did you mean 'memory'?");
  expect_mistake("default = \"memory\"", "", "durability.default: is missing; allowed: fsync, ");
  expect_mistake("data_dir = \"tmpfs\"", "data_dir = \"ram\"", "durability.memory.data_dir: 'ram'");
  expect_mistake("flag = \"--bad\"", "", "knobs.bad.flag: is missing");
  expect_mistake("flag = \"--bad\"", "flag = \"--bad\"\nrange = 3",
                 "knobs.bad.range: is not known");
  expect_mistake("operation = \"append\"", "operation = \"apend\"", "did you mean 'append'?");
  expect_mistake("request_bytes = 64", "request_bytes = -1", "a whole number from 1 to 1048576");
  expect_mistake("[profiles.uniform]", "[profiles.Uniform]", "small letters");
  expect_mistake("[ports]", "[ports", ":");
  expect_mistake("[start]", "[[start]]", "start: is not a table");
}

TEST_F(SystemDescriptorTest, AMissingFileIsNamed) {
  auto loaded = load_system(directory_ / "none.toml");
  ASSERT_FALSE(loaded.ok());
  EXPECT_NE(loaded.error().find("none.toml"), std::string::npos);
}

TEST_F(SystemDescriptorTest, TheCatalogueShowsWhatIsThereAndWhatIsBroken) {
  fs::create_directories(directory_ / "systems/broken");
  write_file(directory_ / "systems/broken/system.toml", "name = ");
  fs::create_directories(directory_ / "systems/not-a-system");
  auto catalogue = SystemCatalogue::scan(directory_);
  ASSERT_TRUE(catalogue.ok()) << catalogue.error();
  ASSERT_EQ(catalogue->systems.size(), 1U);
  EXPECT_EQ(catalogue->broken.size(), 1U);
  EXPECT_FALSE(SystemCatalogue::scan(directory_ / "nowhere").ok());
  EXPECT_TRUE(find_system(directory_, "fake").ok());
  auto unknown = find_system(directory_, "fak");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().find("allowed: broken, fake; did you mean 'fake'?"), std::string::npos)
      << unknown.error();
}

TEST_F(SystemDescriptorTest, TheExecutableIsLookedForWhereItIsSaid) {
  SystemDescriptor system = this->system();
  EXPECT_TRUE(find_executable(system, test_programs()).built);
  const Availability missing = find_executable(system, directory_);
  EXPECT_FALSE(missing.built);
  EXPECT_NE(missing.remedy.find("needs: nothing; build it with: make test"), std::string::npos);
  system.executable = "sh";
  EXPECT_TRUE(find_executable(system, directory_).built) << "from PATH";
  system.executable = "server/run";
  EXPECT_EQ(find_executable(system, directory_).executable, system.folder / "server/run");
  system.executable = "raftperf-fake-server";
  EXPECT_TRUE(find_executable(system, test_programs()).built);
}

TEST_F(SystemDescriptorTest, TheLayoutMovesAllPortsTogether) {
  SystemDescriptor system = this->system();
  system.ports = {{"client", 8300}, {"peer", 8400}};
  auto layout = ClusterLayout::on_loopback(system, 3, std::nullopt);
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->endpoint("peer", 2).port, 8402);
  layout = ClusterLayout::on_loopback(system, 3, 20000);
  EXPECT_EQ(layout->list("peer"), "127.0.0.1:20100,127.0.0.1:20101,127.0.0.1:20102");
  system.ports["peer"] = 8302;
  EXPECT_FALSE(ClusterLayout::on_loopback(system, 3, std::nullopt).ok());
  EXPECT_TRUE(ClusterLayout::on_loopback(system, 2, std::nullopt).ok());
}

TEST_F(SystemDescriptorTest, TheStartCommandIsAnArgumentVector) {
  SystemDescriptor system = this->system();
  system.command = {"{executable}", "--all={nodes.client}", "{{x}} {node} {host} {port.client}"};
  system.durability.at("memory").arguments = {"--dir", "{data_dir}"};
  system.environment = {{"TOKEN", "{run_token}"}};
  system.knobs = {{"beat", {.flag = "--beat=", .default_value = "5"}}};
  auto layout = ClusterLayout::on_loopback(system, 2, 20000);
  auto knobs = resolve_knobs(system, {{"beat", "7"}});
  ASSERT_TRUE(knobs.ok());
  const StartContext context{.system = system,
                             .layout = *layout,
                             .executable = "/x/server",
                             .build = "/x",
                             .durability = "memory",
                             .knobs = *knobs,
                             .run_token = 18446744073709551615ULL};
  auto command = start_command(context, 1, "/data dir/node1");
  ASSERT_TRUE(command.ok()) << command.error();
  EXPECT_EQ(
      command->arguments,
      (std::vector<std::string>{"/x/server", "--all=127.0.0.1:20000,127.0.0.1:20001",
                                "{x} 1 127.0.0.1 20001", "--dir", "/data dir/node1", "--beat=7"}));
  EXPECT_EQ(command->environment.at("TOKEN"), "18446744073709551615");
}

TEST_F(SystemDescriptorTest, AKnobTakesValuesOfItsKind) {
  SystemDescriptor system = this->system();
  using Kind = SystemDescriptor::ValueKind;
  system.knobs = {{"whole", {.default_value = "1", .kind = Kind::kInteger}},
                  {"real", {.default_value = "0.5", .kind = Kind::kFloat}},
                  {"flag", {.default_value = "true", .kind = Kind::kBoolean}}};
  EXPECT_TRUE(resolve_knobs(system, {{"whole", "-3"}, {"real", "1e3"}, {"flag", "false"}}).ok());
  EXPECT_FALSE(resolve_knobs(system, {{"whole", "1.5"}}).ok());
  EXPECT_FALSE(resolve_knobs(system, {{"whole", ""}}).ok());
  EXPECT_FALSE(resolve_knobs(system, {{"real", "nan"}}).ok());
  EXPECT_FALSE(resolve_knobs(system, {{"flag", "yes"}}).ok());
  auto unknown = resolve_knobs(system, {{"whol", "1"}});
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().find("did you mean 'whole'?"), std::string::npos);
}

TEST_F(SystemDescriptorTest, DataDirectoriesAreOnTheRightMedium) {
  const fs::path disk = directory_ / "data";
  ASSERT_TRUE(create_data_directory(disk, DataMedium::kDisk).ok());
  EXPECT_FALSE(create_data_directory(disk, DataMedium::kDisk).ok()) << "it is there already";
  EXPECT_FALSE(create_data_directory(directory_ / "x", DataMedium::kTmpfs).ok());
  EXPECT_FALSE(fs::exists(directory_ / "x"));
  EXPECT_TRUE(remove_tree(disk).ok());
  EXPECT_TRUE(remove_tree(disk).ok()) << "nothing to do";
  EXPECT_FALSE(remove_tree("/dev/shm").ok());
  EXPECT_FALSE(remove_tree("relative/dir").ok());
  EXPECT_FALSE(remove_tree("/").ok());
}

}  // namespace
}  // namespace raftperf::cluster
