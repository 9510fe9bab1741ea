// SPDX-License-Identifier: Apache-2.0
// What a worker prints.  The judge passes it on to standard error, up to a bound, since a kernel may print without end.
#pragma once

#include <string>
#include <string_view>
#include <thread>

namespace assay {

class WorkerOutput {
 public:
  // What becomes of the output: it is passed on at once, or once the worker has ended, unless first_line() is asked for.
  enum class Begin { passed_on, held };
  explicit WorkerOutput(Begin begin = Begin::passed_on);  // throws std::runtime_error
  ~WorkerOutput();                                        // passes on what is there; the worker and its children have ended
  WorkerOutput(const WorkerOutput&) = delete;
  WorkerOutput& operator=(const WorkerOutput&) = delete;
  int end() const { return ends_[1]; }  // for the worker
  void started();                       // the worker has its end
  void ended();                         // the worker and its children have ended
  int over() const { return over_; }    // an event that tells it
  // Of held output, its first line with a word in it, once the worker and its children have ended; nothing is passed on then.
  std::string first_line();

 private:
  void pass_on();
  void print(std::string_view text);
  const bool holds_;
  std::string held_;
  int ends_[2] = {-1, -1};
  int over_ = -1;
  std::thread thread_;
};

}  // namespace assay
