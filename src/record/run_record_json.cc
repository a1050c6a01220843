// SPDX-License-Identifier: Apache-2.0
//
// run.json, written and read. docs/RECORD_FORMAT.md describes every field.
#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "record/run_record.h"

namespace raftperf::record {
namespace {

// --- Writing ---

template <typename T>
Json optional_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <typename Enum, std::size_t N>
Json counts_json(const std::array<std::uint64_t, N>& counts) {
  Json json = Json::object();
  for (std::size_t i = 0; i < N; ++i) {
    json[std::string(load::to_string(static_cast<Enum>(i)))] = counts[i];
  }
  return json;
}

Json books_json(const load::Books& books) {
  return {{"scheduled", books.scheduled},
          {"sent", books.sent},
          {"dropped", counts_json<load::Drop>(books.dropped)},
          {"ok", books.ok},
          {"rejected", books.rejected},
          {"unknown", counts_json<load::Unknown>(books.unknown)}};
}

Json counts_json(const RunRecord& record) {
  const load::Counts& counts = record.counts;
  Json rejected_by = Json::object();
  for (std::size_t i = 0; i < load::kReasonCount; ++i) {
    if (counts.rejected_by[i] > 0) {
      rejected_by[std::string(to_string(static_cast<load::Reason>(i)))] = counts.rejected_by[i];
    }
  }
  const double due = static_cast<double>(record.books.scheduled);
  return {{"attempts", counts.attempts},
          {"redirects", counts.redirects},
          {"mismatches", counts.mismatches},
          {"late_replies", record.late_replies},
          {"at_cap", counts.at_cap},
          {"at_cap_share", due > 0 ? static_cast<double>(counts.at_cap) / due : 0},
          {"rejected_by", rejected_by}};
}

Json latency_json(const LatencyRecord& latency) {
  if (latency.count == 0) {
    return nullptr;
  }
  Json json = Json::object();
  for (std::size_t i = 0; i < load::kQuantiles.size(); ++i) {
    json[std::string(load::kQuantiles[i].field)] = optional_json(latency.quantiles[i]);
  }
  json["max"] = optional_json(latency.max);
  json["mean"] = optional_json(latency.mean);
  json["count"] = latency.count;
  json["thin"] = latency.thin;
  return json;
}

Json infinite_json(const RunRecord& record) {
  if (record.books.scheduled == record.books.ok) {
    return nullptr;  // nothing was lost
  }
  Json json = Json::object();
  for (std::size_t i = 0; i < load::kQuantiles.size(); ++i) {
    const auto& value = record.if_lost_were_infinite[i];
    json[std::string(load::kQuantiles[i].field)] = value ? Json(*value) : Json("infinite");
  }
  return json;
}

Json judgement_json(const JudgementRecord& judgement) {
  Json reasons = Json::array();
  for (const FindingRecord& finding : judgement.reasons) {
    reasons.push_back({{"code", finding.code},
                       {"measured", finding.measured},
                       {"limit", finding.limit},
                       {"unit", finding.unit},
                       {"remedy", finding.remedy}});
  }
  return {{"status", judgement.status}, {"reasons", reasons}};
}

Json options_json(const std::vector<OptionRecord>& options) {
  Json json = Json::object();
  for (const OptionRecord& option : options) {
    json[option.name] = {{"value", option.value}, {"source", option.source}};
  }
  return json;
}

Json client_json(const ClientRecord& client) {
  return {{"workers", client.workers},
          {"pace", client.pace},
          {"busy_share", client.busy_share},
          {"cpu_us_per_operation", client.cpu_us_per_operation},
          {"connections_asked", client.connections_asked},
          {"connections_at_start", client.connections_at_start},
          {"connections_at_end", client.connections_at_end},
          {"frames_per_send", optional_json(client.frames_per_send)},
          {"frames_per_receive", optional_json(client.frames_per_receive)},
          {"protocol_errors", client.protocol_errors}};
}

Json cluster_json(const ClusterRecord& cluster) {
  Json events = Json::array();
  for (const EventRecord& event : cluster.events) {
    events.push_back({{"at_s", event.at_s},
                      {"node", optional_json(event.node)},
                      {"code", event.code},
                      {"detail", event.detail},
                      {"planned", event.planned}});
  }
  Json cpu = Json::array();
  for (const auto& share : cluster.server_cpu_share) {
    cpu.push_back(optional_json(share));
  }
  return {{"nodes", cluster.nodes},
          {"leader_at_start", optional_json(cluster.leader_at_start)},
          {"leader_at_end", optional_json(cluster.leader_at_end)},
          {"term_at_start", optional_json(cluster.term_at_start)},
          {"term_at_end", optional_json(cluster.term_at_end)},
          {"leader_changes", cluster.leader_changes},
          {"placement", cluster.placement},
          {"server_cpu_share", cpu},
          {"events", events}};
}

Json window_json(const WindowRecord& window) {
  return {{"start_utc", window.start_utc},
          {"warmup_s", window.warmup_s},
          {"measure_s", window.measure_s},
          {"drain_s", window.drain_s},
          {"offered_per_s", optional_json(window.offered_per_s)},
          {"achieved_per_s", window.achieved_per_s},
          {"interrupted", window.interrupted}};
}

Json verification_json(const VerificationRecord& verification) {
  return {{"status", verification.status},
          {"detail", verification.detail},
          {"applied", optional_json(verification.applied)},
          {"acknowledged", verification.acknowledged},
          {"unknown", verification.unknown},
          {"missing", optional_json(verification.missing)}};
}

// --- Reading ---

/// Whether a value is of a field's type. The library itself would turn 1.5 into 1, true
/// into 1 and -1 into 2^64 - 1.
template <typename T>
bool holds(const Json& value) {
  if constexpr (std::is_same_v<T, Json>) {
    return true;
  } else if constexpr (std::is_same_v<T, bool>) {
    return value.is_boolean();
  } else if constexpr (std::is_same_v<T, std::string>) {
    return value.is_string();
  } else if constexpr (std::is_floating_point_v<T>) {
    return value.is_number();
  } else if constexpr (std::is_integral_v<T>) {
    return value.is_number_unsigned()
               ? std::in_range<T>(value.get<std::uint64_t>())
               : value.is_number_integer() && std::in_range<T>(value.get<std::int64_t>());
  } else {  // a list of strings
    return value.is_array() && std::all_of(value.begin(), value.end(),
                                           [](const Json& each) { return each.is_string(); });
  }
}

/// Walks a JSON object; remembers the first field that is missing or of another type.
class Fields {
 public:
  Fields(const Json& json, std::string path, std::string& error)
      : json_(json), path_(std::move(path)), error_(error) {}

  [[nodiscard]] Fields at(const char* name) const {
    static const Json kEmpty = Json::object();
    const bool present = json_.is_object() && json_.contains(name) && json_[name].is_object();
    if (!present) {
      fail(name, "an object is missing");
    }
    return {present ? json_[name] : kEmpty, path_ + name + ".", error_};
  }
  [[nodiscard]] bool is_null(const char* name) const {
    return json_.is_object() && json_.contains(name) && json_[name].is_null();
  }
  template <typename T>
  void read(const char* name, T& to) const {
    if (!json_.is_object() || !json_.contains(name)) {
      fail(name, "missing");
      return;
    }
    if (!holds<T>(json_[name])) {
      fail(name, "of the wrong type");
      return;
    }
    json_[name].get_to(to);
  }
  template <typename T>
  void read(const char* name, std::optional<T>& to) const {
    to.reset();
    if (!is_null(name)) {
      T value{};
      read(name, value);
      to = value;
    }
  }
  [[nodiscard]] const Json& json() const { return json_; }
  void fail(const char* name, const char* what) const {
    if (error_.empty()) {
      error_ = fmt::format("{}{}: {}", path_, name, what);
    }
  }
  [[nodiscard]] Fields element(const Json& json, const char* name) const {
    return {json, path_ + name + "[].", error_};
  }

 private:
  const Json& json_;
  std::string path_;
  std::string& error_;
};

template <typename Enum, std::size_t N>
void read_counts(const Fields& fields, std::array<std::uint64_t, N>& counts) {
  for (std::size_t i = 0; i < N; ++i) {
    fields.read(std::string(load::to_string(static_cast<Enum>(i))).c_str(), counts[i]);
  }
}

void read_books(const Fields& fields, load::Books& books) {
  fields.read("scheduled", books.scheduled);
  fields.read("sent", books.sent);
  read_counts<load::Drop>(fields.at("dropped"), books.dropped);
  fields.read("ok", books.ok);
  fields.read("rejected", books.rejected);
  read_counts<load::Unknown>(fields.at("unknown"), books.unknown);
}

void read_counts(const Fields& fields, RunRecord& record) {
  fields.read("attempts", record.counts.attempts);
  fields.read("redirects", record.counts.redirects);
  fields.read("mismatches", record.counts.mismatches);
  fields.read("late_replies", record.late_replies);
  fields.read("at_cap", record.counts.at_cap);
  const Fields by = fields.at("rejected_by");
  for (std::size_t i = 0; i < load::kReasonCount; ++i) {
    const std::string name(to_string(static_cast<load::Reason>(i)));
    if (by.json().contains(name)) {
      by.read(name.c_str(), record.counts.rejected_by[i]);
    }
  }
}

void read_latency(const Fields& fields, const char* name, LatencyRecord& latency) {
  if (fields.is_null(name)) {
    return;
  }
  const Fields inner = fields.at(name);
  for (std::size_t i = 0; i < load::kQuantiles.size(); ++i) {
    inner.read(std::string(load::kQuantiles[i].field).c_str(), latency.quantiles[i]);
  }
  inner.read("max", latency.max);
  inner.read("mean", latency.mean);
  inner.read("count", latency.count);
  inner.read("thin", latency.thin);
}

void read_infinite(const Fields& fields, RunRecord& record) {
  constexpr const char* kName = "response_if_lost_were_infinite_ns";
  if (fields.is_null(kName)) {
    const LatencyRecord& reported = record.mode == "open" ? record.response : record.service;
    record.if_lost_were_infinite = reported.quantiles;
    return;
  }
  const Fields inner = fields.at(kName);
  for (std::size_t i = 0; i < load::kQuantiles.size(); ++i) {
    const std::string field(load::kQuantiles[i].field);
    if (!inner.json().contains(field) || inner.json()[field] != "infinite") {
      std::int64_t value = 0;
      inner.read(field.c_str(), value);
      record.if_lost_were_infinite[i] = value;
    }
  }
}

void read_judgement(const Fields& fields, JudgementRecord& judgement) {
  fields.read("status", judgement.status);
  if (!fields.json().contains("reasons") || !fields.json()["reasons"].is_array()) {
    fields.fail("reasons", "a list is missing");
    return;
  }
  for (const Json& each : fields.json()["reasons"]) {
    const Fields reason = fields.element(each, "reasons");
    FindingRecord& finding = judgement.reasons.emplace_back();
    reason.read("code", finding.code);
    reason.read("measured", finding.measured);
    reason.read("limit", finding.limit);
    reason.read("unit", finding.unit);
    reason.read("remedy", finding.remedy);
  }
}

void read_client(const Fields& fields, ClientRecord& client) {
  fields.read("workers", client.workers);
  fields.read("pace", client.pace);
  fields.read("busy_share", client.busy_share);
  fields.read("cpu_us_per_operation", client.cpu_us_per_operation);
  fields.read("connections_asked", client.connections_asked);
  fields.read("connections_at_start", client.connections_at_start);
  fields.read("connections_at_end", client.connections_at_end);
  fields.read("frames_per_send", client.frames_per_send);
  fields.read("frames_per_receive", client.frames_per_receive);
  fields.read("protocol_errors", client.protocol_errors);
}

void read_cluster(const Fields& fields, ClusterRecord& cluster) {
  fields.read("nodes", cluster.nodes);
  fields.read("leader_at_start", cluster.leader_at_start);
  fields.read("leader_at_end", cluster.leader_at_end);
  fields.read("term_at_start", cluster.term_at_start);
  fields.read("term_at_end", cluster.term_at_end);
  fields.read("leader_changes", cluster.leader_changes);
  fields.read("placement", cluster.placement);
  for (const char* list : {"server_cpu_share", "events"}) {
    if (!fields.json().contains(list) || !fields.json()[list].is_array()) {
      fields.fail(list, "a list is missing");
      return;
    }
  }
  for (const Json& each : fields.json()["server_cpu_share"]) {
    if (!each.is_number() && !each.is_null()) {
      fields.fail("server_cpu_share", "of the wrong type");
      return;
    }
    cluster.server_cpu_share.push_back(each.is_null() ? std::nullopt
                                                      : std::optional(each.get<double>()));
  }
  for (const Json& each : fields.json()["events"]) {
    const Fields event = fields.element(each, "events");
    EventRecord& read = cluster.events.emplace_back();
    event.read("at_s", read.at_s);
    event.read("node", read.node);
    event.read("code", read.code);
    event.read("detail", read.detail);
    event.read("planned", read.planned);
  }
}

void read_options(const Fields& fields, std::vector<OptionRecord>& options) {
  for (const auto& [name, each] : fields.json().items()) {
    const Fields option = fields.element(each, name.c_str());
    OptionRecord& read = options.emplace_back();
    read.name = name;
    option.read("value", read.value);
    option.read("source", read.source);
  }
}

void read_window(const Fields& fields, WindowRecord& window) {
  fields.read("start_utc", window.start_utc);
  fields.read("warmup_s", window.warmup_s);
  fields.read("measure_s", window.measure_s);
  fields.read("drain_s", window.drain_s);
  fields.read("offered_per_s", window.offered_per_s);
  fields.read("achieved_per_s", window.achieved_per_s);
  fields.read("interrupted", window.interrupted);
}

void read_verification(const Fields& fields, VerificationRecord& verification) {
  fields.read("status", verification.status);
  fields.read("detail", verification.detail);
  fields.read("applied", verification.applied);
  fields.read("acknowledged", verification.acknowledged);
  fields.read("unknown", verification.unknown);
  fields.read("missing", verification.missing);
}

}  // namespace

Json to_json(const RunRecord& record) {
  Json json = {{"record_version", kRecordVersion},
               {"measurement_version", kMeasurementVersion},
               {"raftperf_version", record.raftperf_version},
               {"system", record.system},
               {"driver", record.driver},
               {"mode", record.mode},
               {"profile", record.profile},
               {"durability", record.durability},
               {"request_bytes", optional_json(record.request_bytes)},
               {"options", options_json(record.options)},
               {"window", window_json(record.window)},
               {"warmup", books_json(record.warmup_books)},
               {"books", books_json(record.books)},
               {"counts", counts_json(record)}};
  json["response_ns"] = latency_json(record.response);
  json["service_ns"] = latency_json(record.service);
  json["lag_ns"] = latency_json(record.lag);
  json["burst_lag_ns"] = latency_json(record.burst_lag);
  json["held_ns"] = latency_json(record.held);
  json["turn_gap_ns"] = latency_json(record.turn_gap);
  json["response_if_lost_were_infinite_ns"] = infinite_json(record);
  json["little_ratio"] = optional_json(record.little_ratio);
  json["in_flight_mean"] = optional_json(record.in_flight_mean);
  json["floor"] = {{"service_p50_ns", optional_json(record.floor.service_p50_ns)},
                   {"rate_max_per_s", optional_json(record.floor.rate_max_per_s)}};
  json["client"] = client_json(record.client);
  json["rig"] = judgement_json(record.rig);
  json["load"] = judgement_json(record.load);
  json["cluster"] = cluster_json(record.cluster);
  json["verification"] = verification_json(record.verification);
  json["environment"] = record.environment;
  return json;
}

Result<RunRecord> from_json(const Json& json) {
  std::string error;
  const Fields fields(json, "", error);
  int version = 0;
  fields.read("record_version", version);
  if (error.empty() && (version < 1 || version > kRecordVersion)) {
    return Error{fmt::format("record_version {} is not one that this raftperf reads (1 to {})",
                             version, kRecordVersion)};
  }
  RunRecord record;
  fields.read("raftperf_version", record.raftperf_version);
  fields.read("system", record.system);
  fields.read("driver", record.driver);
  fields.read("mode", record.mode);
  fields.read("profile", record.profile);
  fields.read("durability", record.durability);
  fields.read("request_bytes", record.request_bytes);
  read_options(fields.at("options"), record.options);
  read_window(fields.at("window"), record.window);
  read_books(fields.at("warmup"), record.warmup_books);
  read_books(fields.at("books"), record.books);
  read_counts(fields.at("counts"), record);
  read_latency(fields, "response_ns", record.response);
  read_latency(fields, "service_ns", record.service);
  read_latency(fields, "lag_ns", record.lag);
  read_latency(fields, "burst_lag_ns", record.burst_lag);
  read_latency(fields, "held_ns", record.held);
  read_latency(fields, "turn_gap_ns", record.turn_gap);
  read_infinite(fields, record);
  fields.read("little_ratio", record.little_ratio);
  fields.read("in_flight_mean", record.in_flight_mean);
  const Fields floor = fields.at("floor");
  floor.read("service_p50_ns", record.floor.service_p50_ns);
  floor.read("rate_max_per_s", record.floor.rate_max_per_s);
  read_client(fields.at("client"), record.client);
  read_judgement(fields.at("rig"), record.rig);
  read_judgement(fields.at("load"), record.load);
  read_cluster(fields.at("cluster"), record.cluster);
  read_verification(fields.at("verification"), record.verification);
  fields.read("environment", record.environment);
  return error.empty() ? Result<RunRecord>(std::move(record)) : Result<RunRecord>(Error{error});
}

}  // namespace raftperf::record
