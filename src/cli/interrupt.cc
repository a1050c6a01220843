// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.h"

#include <array>
#include <atomic>
#include <csignal>

namespace raftperf::cli {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};
std::atomic<run::Signals*> current{nullptr};
static_assert(std::atomic<run::Signals*>::is_always_lock_free);

// Only atomic stores: safe in a signal handler.
void on_signal(int) {
  run::Signals* signals = current.load();
  if (signals == nullptr) {
    return;
  }
  if (signals->stopping()) {
    signals->abandon();
  } else {
    signals->stop();
  }
}

}  // namespace

Interrupts::Interrupts(run::Signals& signals) {
  current = &signals;
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (const int number : kSignals) {
    ::sigaction(number, &action, nullptr);
  }
}

Interrupts::~Interrupts() {
  for (const int number : kSignals) {
    std::signal(number, SIG_DFL);
  }
  current = nullptr;
}

}  // namespace raftperf::cli
