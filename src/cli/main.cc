// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <string_view>

#include "base/nearest.h"
#include "cli/bench_command.h"
#include "cli/cluster_command.h"
#include "cli/exit_status.h"
#include "cli/output.h"
#include "cli/place.h"
#include "cli/run_command.h"
#include "cli/selftest_command.h"
#include "cli/systems_command.h"
#include "cluster/guard.h"

namespace raftperf::cli {
namespace {

/// Every word that could have been meant in place of an unknown one.
std::vector<std::string> known_words(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::App* command : app.get_subcommands({})) {
    words.push_back(command->get_name());
  }
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      words.push_back("--" + name);
    }
  }
  return words;
}

/// The innermost subcommand that was recognised: where the mistake was made.
const CLI::App& innermost(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) {
    if (command->parsed()) {
      return innermost(*command);
    }
  }
  return app;
}

/// "--rate: 1 required R missing" -> "--rate needs a value: ... example ...".
std::string missing_value(const std::string& message) {
  const std::string option = message.substr(0, message.find(':'));
  for (const OptionSpec& spec : run_options()) {
    if (option == fmt::format("--{}", spec.name)) {
      const auto refused = spec.check("");
      return fmt::format("{} {} needs a value{}", option, spec.value,
                         refused ? "" : ": " + refused.error());
    }
  }
  return option + " needs a value";
}

/// What was typed may hold line ends; a message is one line.
std::string one_line(std::string message) {
  std::replace_if(
      message.begin(), message.end(), [](unsigned char c) { return c < ' '; }, ' ');
  return message;
}

int explain(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    return app.exit(error);  // --help, --version
  }
  const CLI::App& command = innermost(app);
  std::string message = error.what();
  // By code: the library puts the command's name where the error's should be.
  const auto code = static_cast<CLI::ExitCodes>(error.get_exit_code());
  const auto extras =
      command.remaining(true).empty() ? app.remaining(true) : command.remaining(true);
  // A mistyped subcommand is reported as one that is missing.
  if ((code == CLI::ExitCodes::ExtrasError || code == CLI::ExitCodes::RequiredError) &&
      !extras.empty()) {
    const std::string word = extras.front().substr(0, extras.front().find('='));
    message = fmt::format("unknown {} '{}'{}", word.starts_with("-") ? "option" : "word", word,
                          did_you_mean(word, known_words(command)));
  }
  if (code == CLI::ExitCodes::ArgumentMismatch) {
    message = missing_value(message);
  }
  say(stderr, "raftperf: {} (see: raftperf {}--help)\n", one_line(message),
      &command == &app ? "" : command.get_name() + " ");
  return kUsage;
}

/// A result that could not be written is no success.
int with_output(int status) {
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (written || status != kDone) {
    return status;
  }
  say(stderr, "raftperf: standard output could not be written: is its disk full?\n");
  return kInvalid;
}

int main(int argc, char** argv) {
  // The guard reads what it watches over from its standard input; it is started by this
  // program and for nobody else, so it is no subcommand.
  if (argc == 2 && std::string_view(argv[1]) == "guard") {
    return cluster::guard_main(0);
  }
  // A reader that closes its end (head, less) must not end a run before its record.
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app{"raftperf measures Raft implementations, and proves its own numbers", "raftperf"};
  app.set_version_flag("--version", RAFTPERF_VERSION);
  app.require_subcommand(1);
  RunCommand run(app);
  SystemsCommand systems(app);
  ClusterCommand cluster(app);
  SelftestCommand selftest(app);
  BenchCommand bench(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return explain(app, error);
  }
  const Place place = Place::find();
  return with_output(run.chosen()        ? run.execute(place)
                     : systems.chosen()  ? systems.execute(place)
                     : bench.chosen()    ? bench.execute(place)
                     : selftest.chosen() ? selftest.execute(place)
                                         : cluster.execute(place));
}

}  // namespace
}  // namespace raftperf::cli

int main(int argc, char** argv) { return raftperf::cli::main(argc, argv); }
