// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "cluster/cluster_options.h"
#include "cluster/event_log.h"
#include "cluster/local_cluster.h"
#include "cluster/system_descriptor.h"

namespace raftperf::cluster {

/// A test with a directory of its own, in which a system "fake" is described.
class ClusterTest : public ::testing::Test {
 protected:
  ClusterTest();
  ~ClusterTest() override;

  /// Three nodes of the fake system on checked free ports.
  [[nodiscard]] ClusterOptions options() const;
  [[nodiscard]] const SystemDescriptor& system() const { return system_; }
  [[nodiscard]] StateDirectory state() const { return {.path = directory_ / "state"}; }

  std::filesystem::path directory_;
  EventLog log_;

 private:
  SystemDescriptor system_;
};

/// The directory of the test programs and of the helpers built beside them.
std::filesystem::path test_programs();

/// The first of `count` ports in a row that are free just now.
std::uint16_t free_ports(int count);

/// Whether the process is there and no zombie.
bool is_alive(pid_t pid);

/// Looks every 10 ms until `condition` holds; false if it does not within 30 s.
bool eventually(const std::function<bool()>& condition);

/// How many events of a code there are.
int count_events(const EventLog& log, EventCode code);

/// A file's content; "" if it is not there.
std::string read_file(const std::filesystem::path& file);
void write_file(const std::filesystem::path& file, const std::string& content);

}  // namespace raftperf::cluster
