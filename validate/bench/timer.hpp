// SPDX-License-Identifier: Apache-2.0
// A process that times rows: this one, or a child that this one started (of this build or of another).
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "validate/cases/case.hpp"
#include "validate/problem/op.hpp"
#include "validate/worker/clock.hpp"
#include "validate/worker/shared_memory.hpp"

namespace assay {

struct TimingOrder {
  const Op* op = nullptr;
  Case c;
  std::vector<std::string> kernels;
  double seconds = 0.05;
  bool leave_out_slow = false;  // those that take 50 times as long as the fastest
  bool judge = false;           // hand out what each kernel computes after it was timed
  bool functions = false;       // say what each launches, too
  // Instead of times:
  bool dram = false;  // the bytes of device memory of a launch
  bool once = false;  // what each launches, in one launch that a profiler may watch; none that takes long
};

struct KernelTimes {
  std::string kernel;
  std::string left_out;  // why it was not timed; empty: it was
  bool failed = false;   // and that is a fault
  bool slow = false;     // it takes 50 times as long as the fastest
  std::vector<double> cold_us;
  SteadyTimes steady;
  // Of device memory: one set of tensors, the workspace declared, and what else was taken between the first launch and the last.
  std::size_t tensor_bytes = 0, workspace_bytes = 0, other_bytes = 0;
  std::string code;  // hash of the kernel's code in that build
  std::vector<LaunchedFunction> functions;
  std::optional<DramBytes> dram;
};

// Called once a kernel with the images of its outputs, null for inputs, in the order of the op's tensors.
using JudgeOutputs = std::function<void(const std::string& kernel, const std::vector<std::byte*>& images)>;

class RowTimer {
 public:
  virtual ~RowTimer() = default;
  // `inputs`: the images of the inputs, as pack() places them.
  virtual std::vector<KernelTimes> time(const TimingOrder& order, const SharedMemory& inputs, const JudgeOutputs& judge) = 0;
  virtual bool alive() const { return true; }
};

// In this process.
class LocalTimer final : public RowTimer {
 public:
  explicit LocalTimer(Backend& backend) : backend_(backend) {}
  std::vector<KernelTimes> time(const TimingOrder&, const SharedMemory& inputs, const JudgeOutputs&) override;

 private:
  Backend& backend_;
};

// In a child process of that program.
class ChildTimer final : public RowTimer {
 public:
  // Throws BadInput where the program cannot be started or is none that times for us.
  ChildTimer(const std::string& program, const std::string& backend, double timeout_s);
  ~ChildTimer() override;
  ChildTimer(const ChildTimer&) = delete;
  ChildTimer& operator=(const ChildTimer&) = delete;
  std::vector<KernelTimes> time(const TimingOrder&, const SharedMemory& inputs, const JudgeOutputs&) override;
  // What a copy of so many bytes moves there.  Throws std::runtime_error with the reason where nobody can count it.
  DramBytes copy_dram_bytes(std::size_t bytes);
  bool alive() const override { return pid_ > 0; }
  const std::string& commit() const { return commit_; }
  const std::string& build() const { return build_; }

 private:
  bool send(const std::string& line);
  std::string receive();  // a line; empty where the process ended or was too slow
  void end();
  int pid_ = -1, to_ = -1, from_ = -1;
  double timeout_s_ = 60;
  std::string pending_, commit_, build_;
};

// The child's side: reads orders until its input ends.  Returns the process's exit code.
int serve_times(std::string_view backend);

}  // namespace assay
