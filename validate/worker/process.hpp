// SPDX-License-Identifier: Apache-2.0
// The judge's side of a worker process: starts it, sends orders, receives replies, and says why it died.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "validate/worker/protocol.hpp"
#include "validate/worker/shared_memory.hpp"

namespace assay {

class WorkerProcess {
 public:
  explicit WorkerProcess(std::string_view backend);  // throws std::runtime_error if it cannot be started
  ~WorkerProcess();                                  // kills it
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  int socket() const { return socket_; }  // readable once the worker has replied or ended
  void send(const Order& order, const SharedMemory& inputs, const SharedMemory& outputs);
  std::optional<Reply> receive();  // nullopt: the worker has died or broken the protocol
  std::string cause_of_death();    // such as "the worker process exited with code 3"; kills the worker if it still runs

 private:
  bool bad_message_ = false;  // the last message was not a reply
  pid_t pid_ = -1;
  int socket_ = -1;
};

}  // namespace assay
