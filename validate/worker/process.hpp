// SPDX-License-Identifier: Apache-2.0
// Worker processes seen from the judge: started by exec, one conversation each, replaced when they die.
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
  explicit WorkerProcess(std::string_view backend);  // throws std::runtime_error when it cannot be started
  ~WorkerProcess();                                  // kills it
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  int socket() const { return socket_; }  // readable when a reply, or the worker's end, is there
  void send(const Order& order, const SharedMemory& inputs, const SharedMemory& outputs);
  std::optional<Reply> receive();  // none: it is dead, or no longer speaks the protocol
  std::string cause_of_death();    // "killed by signal 11 (Segmentation fault)", "exited with code 3"; ends it

 private:
  bool babbled_ = false;  // what was received last was no reply
  pid_t pid_ = -1;
  int socket_ = -1;
};

}  // namespace assay
