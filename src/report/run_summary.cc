// SPDX-License-Identifier: Apache-2.0
#include "report/run_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "report/numbers.h"

namespace raftperf::report {
namespace {

using record::FindingRecord;
using record::JudgementRecord;
using record::LatencyRecord;
using record::RunRecord;

constexpr std::size_t kColumns = 80;
constexpr std::size_t kIndent = 11;

std::string option(const RunRecord& record, std::string_view name) {
  for (const auto& each : record.options) {
    if (each.name == name) {
      return each.value;
    }
  }
  return "-";
}

/// Appends `part` at `column`, broken between words where it does not fit into 80 columns.
void append_wrapped(std::string& text, std::size_t& column, std::string_view part,
                    std::size_t indent) {
  while (!part.empty()) {
    const std::size_t length = std::min(part.find(' ', 1), part.size());
    if (column + length > kColumns && column > indent) {
      text += "\n" + std::string(indent, ' ');
      column = indent;
      part.remove_prefix(part.front() == ' ' ? 1 : 0);
      continue;
    }
    text += part.substr(0, length);
    column += length;
    part.remove_prefix(length);
  }
}

/// A label and its text, wrapped at 80 columns between the text's parts.
std::string line(std::string_view label, const std::vector<std::string>& parts) {
  std::string text = fmt::format("{:<{}} ", label, kIndent - 1);
  std::size_t column = text.size();
  bool first = true;
  for (const std::string& part : parts) {
    if (!first && column + 3 + part.size() > kColumns) {
      text += "\n" + std::string(kIndent, ' ');
      column = kIndent;
    } else if (!first) {
      text += "   ";
      column += 3;
    }
    append_wrapped(text, column, part, kIndent);
    first = false;
  }
  return text + "\n";
}

std::string with_unit(double value, const std::string& unit) {
  if (unit == "%") {
    return percent_text(value / 100);
  }
  if (unit == "/s") {
    return rate_text(value);
  }
  return unit.empty() ? number_text(value) : fmt::format("{} {}", number_text(value), unit);
}

std::string judgement(std::string_view name, const JudgementRecord& judged) {
  std::string text = fmt::format("{:<{}}{}\n", name, kIndent, judged.status);
  for (const FindingRecord& finding : judged.reasons) {
    text += fmt::format("{:{}}{}: {}, limit {}\n", "", kIndent, finding.code,
                        with_unit(finding.measured, finding.unit),
                        with_unit(finding.limit, finding.unit));
    text += std::string(kIndent + 2, ' ');
    std::size_t column = kIndent + 2;
    append_wrapped(text, column, finding.remedy, kIndent + 2);
    text += "\n";
  }
  return text;
}

std::string heading(const RunRecord& record) {
  std::vector<std::string> parts;
  if (record.mode == "open") {
    parts = {"open loop",
             fmt::format("{} offered", rate_text(record.window.offered_per_s.value_or(0))),
             fmt::format("burst {}", option(record, "burst")), option(record, "arrival")};
  } else {
    parts = {"closed loop", fmt::format("{} outstanding", option(record, "threads"))};
  }
  parts.push_back(fmt::format("{} s measured after {} s{}", number_text(record.window.measure_s),
                              number_text(record.window.warmup_s),
                              record.window.interrupted ? ", interrupted" : ""));
  return line(record.system, parts);
}

std::string rates(const RunRecord& record) {
  std::vector<std::string> parts{
      fmt::format("{} achieved", rate_text(record.window.achieved_per_s))};
  if (record.window.offered_per_s && *record.window.offered_per_s > 0) {
    parts.push_back(percent_text(record.window.achieved_per_s / *record.window.offered_per_s) +
                    " of offered");
  }
  parts.push_back(fmt::format("Little's ratio {}", record.little_ratio
                                                       ? fmt::format("{:.3f}", *record.little_ratio)
                                                       : "-"));
  if (record.in_flight_mean) {
    parts.push_back(fmt::format("{} in flight", number_text(*record.in_flight_mean)));
  }
  return line("rate", parts);
}

template <typename Enum, std::size_t N>
std::string by_reason(const std::array<std::uint64_t, N>& counts) {
  std::string text;
  for (std::size_t i = 0; i < N; ++i) {
    if (counts[i] > 0) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                          load::to_string(static_cast<Enum>(i)), count_text(counts[i]));
    }
  }
  return text.empty() ? text : " (" + text + ")";
}

std::string books(const RunRecord& record) {
  const load::Books& books = record.books;
  return line("scheduled", {fmt::format("{} = sent {} + dropped {}{}", count_text(books.scheduled),
                                        count_text(books.sent), count_text(books.dropped_total()),
                                        by_reason<load::Drop>(books.dropped))}) +
         line("sent", {fmt::format("{} = ok {} + rejected {} + unknown {}{}",
                                   count_text(books.sent), count_text(books.ok),
                                   count_text(books.rejected), count_text(books.unknown_total()),
                                   by_reason<load::Unknown>(books.unknown))});
}

std::string counts(const RunRecord& record) {
  std::vector<std::string> parts;
  const auto add = [&](std::string_view name, std::uint64_t count) {
    if (count > 0) {
      parts.push_back(fmt::format("{} {}", name, count_text(count)));
    }
  };
  add("mismatches", record.counts.mismatches);
  add("redirects", record.counts.redirects);
  add("late replies", record.late_replies);
  add("warm-up drops", record.warmup_books.dropped_total());
  return parts.empty() ? std::string() : line("also", parts);
}

std::string latency_row(std::string_view label, const LatencyRecord& latency) {
  if (latency.count == 0) {
    return {};
  }
  std::string text = fmt::format("{:<{}}", label, kIndent);
  for (std::size_t i = 0; i < load::kQuantiles.size(); ++i) {
    const bool thin = std::find(latency.thin.begin(), latency.thin.end(),
                                load::kQuantiles[i].field) != latency.thin.end();
    text += fmt::format("{:>10}{}", micros_text(latency.quantiles[i]), thin ? "*" : " ");
  }
  return text + fmt::format("{:>11}\n", micros_text(latency.max));
}

std::string infinite_row(const RunRecord& record) {
  if (record.books.ok == record.books.scheduled) {
    return {};
  }
  std::string text = fmt::format("{:<{}}", "lost = inf", kIndent);
  for (const auto& value : record.if_lost_were_infinite) {
    text += fmt::format("{:>10} ", value ? micros_text(value) : "inf");
  }
  return text + fmt::format("{:>11}\n", "inf");
}

std::string latencies(const RunRecord& record) {
  std::string text = fmt::format("{:<{}}", "us", kIndent);
  for (const load::Quantile& quantile : load::kQuantiles) {
    text += fmt::format("{:>10} ", quantile.name);
  }
  text += fmt::format("{:>11}\n", "max");
  text += latency_row("response", record.response);
  text += infinite_row(record);
  text += latency_row("service", record.service);
  text += latency_row("lag", record.lag);
  text += latency_row("held", record.held);
  text += latency_row("turn gap", record.turn_gap);
  if (const std::uint64_t dropped = record.books.dropped_total(); dropped > 0) {
    text += fmt::format("{:{}}censored: {} operations were never sent and have no latency here\n",
                        "", kIndent, count_text(dropped));
  }
  const LatencyRecord& reported = record.mode == "open" ? record.response : record.service;
  if (!reported.thin.empty()) {
    text += fmt::format("{:{}}* fewer than ten samples beyond it\n", "", kIndent);
  }
  if (record.mode != "open") {
    text += fmt::format("{:{}}closed loop: pauses are under-represented in these\n", "", kIndent);
  }
  return text;
}

std::string cluster(const RunRecord& record) {
  std::vector<std::string> parts;
  parts.push_back(fmt::format("{} node{}, {}", record.cluster.nodes.size(),
                              record.cluster.nodes.size() == 1 ? "" : "s",
                              record.cluster.placement));
  if (record.cluster.leader_at_start) {
    parts.push_back(fmt::format("leader node{}, term {}", *record.cluster.leader_at_start,
                                record.cluster.term_at_start.value_or(0)));
    if (record.cluster.leader_at_end != record.cluster.leader_at_start ||
        record.cluster.term_at_end != record.cluster.term_at_start) {
      parts.push_back(record.cluster.leader_at_end
                          ? fmt::format("at the end node{}, term {}", *record.cluster.leader_at_end,
                                        record.cluster.term_at_end.value_or(0))
                          : "at the end none");
    }
  }
  return line("cluster", parts);
}

std::string workload(const RunRecord& record) {
  return line(
      "workload",
      {fmt::format("profile {}", record.profile),
       record.request_bytes ? fmt::format("{} B a request", *record.request_bytes)
                            : "request size unknown",
       fmt::format("durability {}", record.durability), fmt::format("driver {}", record.driver)});
}

std::string client(const RunRecord& record) {
  const record::ClientRecord& client = record.client;
  std::vector<std::string> parts{
      fmt::format("{} worker{}, {} busy", client.workers, client.workers == 1 ? "" : "s",
                  percent_text(client.busy_share)),
      fmt::format("{:.2f} us CPU an operation", client.cpu_us_per_operation)};
  if (client.connections_asked > 0) {
    parts.push_back(
        fmt::format("connections {}/{}", client.connections_at_end, client.connections_asked));
  }
  if (client.frames_per_send) {
    parts.push_back(fmt::format("{:.1f} frames a send", *client.frames_per_send));
  }
  parts.push_back("pace " + client.pace);
  return line("client", parts);
}

std::string floor(const RunRecord& record) {
  if (!record.floor.service_p50_ns || !record.floor.rate_max_per_s) {
    return {};
  }
  return line("floor", {fmt::format("{} us service, {} against a server that does nothing",
                                    micros_text(record.floor.service_p50_ns),
                                    rate_text(*record.floor.rate_max_per_s))});
}

std::string verification(const RunRecord& record) {
  return line("verified", {record.verification.status + ": " + record.verification.detail});
}

}  // namespace

std::string run_summary(const RunRecord& record) {
  return heading(record) + judgement("rig", record.rig) + judgement("load", record.load) +
         rates(record) + books(record) + counts(record) + latencies(record) + workload(record) +
         cluster(record) + client(record) + floor(record) + verification(record);
}

}  // namespace raftperf::report
