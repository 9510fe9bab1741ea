// SPDX-License-Identifier: Apache-2.0
// Calls of a worker that depend on what a filter of seccomp cannot see.  The judge decides them: a worker may change limits,
// priority and affinity of its own threads, and of no other process, and a program may name its own threads, but write nothing
// else in /proc.
#pragma once

#include <thread>

namespace assay {

inline constexpr int kAskingSocket = 4;  // of a worker: it gives the judge the filter's other end through this

// The judge's side: a thread that decides the calls of one worker and of what it starts.
class AskedCalls {
 public:
  explicit AskedCalls(int over);  // an event: the worker and its children have ended.  Throws std::runtime_error
  ~AskedCalls();                  // after it
  AskedCalls(const AskedCalls&) = delete;
  AskedCalls& operator=(const AskedCalls&) = delete;
  int take_end();  // for the worker
  void started();  // the worker has its end

 private:
  void decide_all();
  int listener() const;  // the filter's other end; -1: the worker has none
  int ends_[2] = {-1, -1};
  const int over_;
  std::thread thread_;
};

// The worker's side.  Whether a judge listens.
bool can_ask();
// Gives it the filter's other end, or says that there is none (-1), and closes both.  Returns whether it has taken it.
bool give_listener(int listener);

}  // namespace assay
