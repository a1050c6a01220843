// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>
#include <uv.h>

#include <csignal>
#include <cstdio>

#include "base/check.h"
#include "systems/libraft/server/data_directory.h"
#include "systems/libraft/server/events.h"
#include "systems/libraft/server/options.h"
#include "systems/libraft/server/server.h"

namespace {

using namespace raftperf::libraft;

void raise_descriptor_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

int serve(const Options& options) {
  const auto directory = DataDirectory::open(options.directory, options.node);
  if (!directory) {
    fmt::print(stderr, "raftperf-libraft-server: {}\n", directory.error());
    return 1;
  }
  const Events events(STDERR_FILENO, options.node);
  uv_loop_t loop;
  CHECK_EQ(uv_loop_init(&loop), 0);
  int exit_status = 0;
  {
    Server server(&loop, options, *directory, events);
    exit_status = server.run();
  }
  CHECK_EQ(uv_loop_close(&loop), 0);
  return exit_status;
}

}  // namespace

int main(int argc, char** argv) {
  // A client that goes away while it is written to is an error code, not a signal.
  (void)std::signal(SIGPIPE, SIG_IGN);
  const CommandLine command_line = parse_command_line(argc, argv);
  if (!command_line.options) {
    return command_line.exit_code;
  }
  raise_descriptor_limit();
  return serve(*command_line.options);
}
