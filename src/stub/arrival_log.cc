// SPDX-License-Identifier: Apache-2.0
#include "stub/arrival_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace raftperf::stub {
namespace {

struct Header {
  char magic[8] = {'R', 'A', 'F', 'T', 'A', 'R', 'R', 'V'};
  std::uint32_t version = 1;
  std::uint32_t record_size = sizeof(Arrival);
};
static_assert(sizeof(Header) == 16);

}  // namespace

ArrivalLog::ArrivalLog(FileDescriptor file, std::string path)
    : file_(std::move(file)),
      path_(std::move(path)),
      buffer_(std::make_unique<Arrival[]>(kBufferRecords)) {}

Result<ArrivalLog> ArrivalLog::create(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.valid()) {
    return Error{fmt::format("{}: {}", path, std::strerror(errno))};
  }
  ArrivalLog log(std::move(file), path);
  const Header header;
  log.write_bytes(&header, sizeof header);
  if (auto written = log.flush(); !written) {
    return Error{written.error()};
  }
  return log;
}

Result<void> ArrivalLog::flush() {
  write_out();
  if (failure_ != 0) {
    return Error{fmt::format("{}: {}", path_, std::strerror(failure_))};
  }
  return {};
}

void ArrivalLog::write_out() noexcept {
  write_bytes(buffer_.get(), used_ * sizeof(Arrival));
  used_ = 0;
}

void ArrivalLog::write_bytes(const void* data, std::size_t size) noexcept {
  const auto* at = static_cast<const char*>(data);
  while (size > 0 && failure_ == 0) {
    const ssize_t count = ::write(file_.get(), at, size);
    if (count >= 0) {
      at += count;
      size -= static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      failure_ = errno;
    }
  }
}

Result<std::vector<Arrival>> read_arrival_log(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Header header;
  const Header expected;
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header) ||
      std::memcmp(&header, &expected, sizeof header) != 0) {
    return Error{fmt::format("{}: not an arrival log", path)};
  }
  std::vector<Arrival> arrivals;
  for (Arrival arrival; file.read(reinterpret_cast<char*>(&arrival), sizeof arrival);) {
    arrivals.push_back(arrival);
  }
  if (file.gcount() != 0) {
    return Error{fmt::format("{}: ends within a record", path)};
  }
  return arrivals;
}

}  // namespace raftperf::stub
