// SPDX-License-Identifier: Apache-2.0
#include "load/interval_merger.h"

#include <algorithm>
#include <limits>

namespace raftperf::load {

IntervalMerger::IntervalMerger(std::vector<LatencyRecorder*> recorders, Emit emit)
    : recorders_(std::move(recorders)),
      emit_(std::move(emit)),
      complete_below_(recorders_.size(), std::numeric_limits<std::int64_t>::min()) {}

void IntervalMerger::collect() {
  for (std::size_t worker = 0; worker < recorders_.size(); ++worker) {
    IntervalExchange& exchange = recorders_[worker]->exchange();
    IntervalExchange::Delivery delivery = exchange.take();
    complete_below_[worker] = delivery.complete_below;
    for (auto& interval : delivery.finished) {
      Pending& pending = pending_[interval->index];
      if (pending.joined == nullptr) {
        pending = {.joined = std::move(interval), .owner = &exchange};
        continue;
      }
      pending.joined->books.add(interval->books);
      pending.joined->counts.add(interval->counts);
      pending.joined->histograms.add(interval->histograms);
      exchange.give_back(std::move(interval));
    }
  }
  const std::int64_t below = *std::min_element(complete_below_.begin(), complete_below_.end());
  while (!pending_.empty() && pending_.begin()->first < below) {
    Pending done = std::move(pending_.begin()->second);
    pending_.erase(pending_.begin());
    emit_(*done.joined);
    done.owner->give_back(std::move(done.joined));
  }
}

}  // namespace raftperf::load
