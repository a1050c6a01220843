// SPDX-License-Identifier: Apache-2.0
#include "systems/libraft/server/events.h"

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <string>

namespace raftperf::libraft {

void Events::emit(std::string_view event, const nlohmann::ordered_json& fields) const {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  nlohmann::ordered_json line;
  line["event"] = event;
  line["node"] = node_;
  line["unix_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  for (const auto& [name, value] : fields.items()) {
    line[name] = value;
  }
  // A pipe that is full would otherwise stop the node, and with it the cluster.
  pollfd room{.fd = fd_, .events = POLLOUT, .revents = 0};
  if (::poll(&room, 1, 0) == 1 && (room.revents & POLLOUT) != 0) {
    (void)write_line(fd_, line);
  }
}

bool write_line(int fd, const nlohmann::ordered_json& object) {
  using Json = nlohmann::ordered_json;
  const std::string text = object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = ::write(fd, text.data() + done, text.size() - done);
    if (written <= 0) {
      return false;
    }
    done += static_cast<std::size_t>(written);
  }
  return true;
}

}  // namespace raftperf::libraft
