// SPDX-License-Identifier: Apache-2.0
// The judge's side of a worker process: starts it, asks for its kernels, sends orders, receives replies, says why it died.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "validate/base/machine.hpp"
#include "validate/worker/asked_calls.hpp"
#include "validate/worker/listing.hpp"
#include "validate/worker/output.hpp"
#include "validate/worker/protocol.hpp"
#include "validate/worker/shared_memory.hpp"

namespace assay {

inline constexpr const char* kOwnProgram = "/proc/self/exe";

// Program and arguments of our own worker, with the kernels of a plugin if its path is given.
std::vector<std::string> own_worker(std::string_view backend, const std::string& plugin = {});

// The second word of a command that starts a worker of ours; the third is the backend.
inline constexpr const char* kServe = "worker";
// Whether a command starts a worker of ours, which confines itself: this program, or a set beside it.  An empty one does.
inline bool is_own_worker(const std::vector<std::string>& command) {
  return command.empty() || (command.size() > 2 && command[1] == kServe);
}

class WorkerProcess {
 public:
  // Throws std::runtime_error if it cannot be started.
  explicit WorkerProcess(const std::vector<std::string>& command, WorkerOutput::Begin begin = WorkerOutput::Begin::passed_on);
  ~WorkerProcess();  // kills it
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  int socket() const { return socket_; }  // readable once the worker has replied or ended
  void send(const Order& order, const SharedMemory& inputs, const SharedMemory& outputs) {
    send(to_text(order), inputs, outputs);
  }
  void send(const std::string& text, const SharedMemory& inputs, const SharedMemory& outputs);
  void send(const std::string& text);  // without memory
  std::optional<Reply> receive();      // nullopt: the worker has died or broken the protocol
  // The next message; nullopt: the worker has died.  Throws std::runtime_error if none comes in time.
  std::optional<std::string> receive_text(double timeout_s);
  // Asks for the worker's kernels from this index on.  Throws std::runtime_error, saying why, if no answer comes in time.
  Listing ask(std::size_t from, double timeout_s);
  std::string closed();  // closes the socket and returns how the worker ends
  // Such as "the worker process exited with code 3"; begins with kMachine if the machine ended it.  A worker whose socket is
  // closed has `patience_s` seconds to end, and is killed then.
  std::string cause_of_death(double patience_s = 10);
  // What a worker that has ended printed first, a line; of one whose output is held (WorkerOutput::Begin).
  std::string first_words() { return output_.first_line(); }
  // Seconds for which the worker's first thread was ready to run and had no core, since it started; 0 where the system does not
  // tell.
  double waited_for_core_s() const;

 private:
  std::optional<std::string> receive_text();
  void stop();
  void lose(const char* what);  // what the machine has kept this process from
  std::string how_it_ended(double patience_s);
  bool bad_message_ = false;                               // the last message was not a reply
  std::string lost_;                                       // why the worker cannot be talked to, if the machine has failed
  std::string folder_;                                     // where a worker that is not ours may write
  std::uint64_t killed_for_memory_ = killed_for_memory();  // by the system before this worker started
  pid_t pid_ = -1;
  int socket_ = -1;
  WorkerOutput output_;
  std::optional<AskedCalls> asked_;  // of a worker in the sandbox
};

}  // namespace assay
