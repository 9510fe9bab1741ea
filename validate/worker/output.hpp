// SPDX-License-Identifier: Apache-2.0
// What a worker prints.  The judge passes it on to standard error, up to a bound, since a kernel may print without end.
#pragma once

#include <thread>

namespace assay {

class WorkerOutput {
 public:
  WorkerOutput();   // throws std::runtime_error
  ~WorkerOutput();  // passes on what is there; the worker and its children have ended
  WorkerOutput(const WorkerOutput&) = delete;
  WorkerOutput& operator=(const WorkerOutput&) = delete;
  int end() const { return ends_[1]; }  // for the worker
  void started();                       // the worker has its end
  void ended();                         // the worker and its children have ended
  int over() const { return over_; }    // an event that tells it

 private:
  void pass_on();
  int ends_[2] = {-1, -1};
  int over_ = -1;
  std::thread thread_;
};

}  // namespace assay
