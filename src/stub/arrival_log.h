// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "stub/service_times.h"

namespace raftperf::stub {

/// One operation as the stub received it.
struct Arrival {
  std::uint64_t ns = 0;  ///< CLOCK_MONOTONIC after the receive call that brought it.
  std::uint64_t correlation_id = 0;

  friend bool operator==(const Arrival&, const Arrival&) = default;
};
static_assert(sizeof(Arrival) == 16);

/// Writes when each operation arrived, in order of receipt, into a file of
///
///   8 bytes   "RAFTARRV"
///   u32       version, 1
///   u32       bytes a record, 16
///   records   u64 ns, u64 correlation_id
///
/// all little-endian. A whole number of records is in the file after `flush`. Between
/// flushes records wait in a preallocated buffer of 64 MiB, which is written out when
/// it is full: 4 million operations without a system call. One thread.
class ArrivalLog {
 public:
  /// Creates or truncates the file and touches the buffer's pages.
  static Result<ArrivalLog> create(const std::string& path);

  void record(TimePoint arrival, std::uint64_t correlation_id) noexcept {
    if (used_ == kBufferRecords) [[unlikely]] {
      write_out();
    }
    buffer_[used_++] = {.ns = static_cast<std::uint64_t>(arrival.time_since_epoch().count()),
                        .correlation_id = correlation_id};
  }

  /// Writes what waits in the buffer; the first failure since `create`, if any.
  Result<void> flush();

 private:
  static constexpr std::size_t kBufferRecords = std::size_t{4} << 20U;

  ArrivalLog(FileDescriptor file, std::string path);
  void write_out() noexcept;
  void write_bytes(const void* data, std::size_t size) noexcept;

  FileDescriptor file_;
  std::string path_;
  std::unique_ptr<Arrival[]> buffer_;
  std::size_t used_ = 0;
  int failure_ = 0;  ///< errno of the first failed write.
};

/// Reads such a file.
Result<std::vector<Arrival>> read_arrival_log(const std::string& path);

}  // namespace raftperf::stub
