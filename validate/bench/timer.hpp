// SPDX-License-Identifier: Apache-2.0
// Timers of rows: in this process, or in a child process of this build or another one.
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
  L2 l2 = L2::flushed;
  bool leave_out_slow = false;  // leave out kernels that take more than 50 times as long as the fastest
  bool judge = false;           // run each kernel once more after the timing and hand its outputs to the judge
  bool functions = false;       // report the functions that each kernel launches, too
  std::size_t copy_bytes = 0;  // also time a copy that reads so many bytes and writes as many, in turns with the kernels; 0: none
  // These two replace the timing:
  bool dram = false;  // count the DRAM bytes of a launch
  bool once = false;  // launch each kernel once, for a profiler, and report its functions; slow kernels are left out
};

struct KernelTimes {
  std::string kernel;
  std::string left_out;  // why it was not timed; empty: it was
  bool failed = false;   // left out because it failed
  bool slow = false;     // left out because it takes more than 50 times as long as the fastest
  std::vector<double> cold_us;
  std::vector<double> copy_us;  // of the copy that took turns with it; empty: none was asked for, or it had no memory
  SteadyTimes steady;
  // Bytes of device memory: one set of tensors, the declared workspace, and what else the launches allocated.
  std::size_t tensor_bytes = 0, workspace_bytes = 0, other_bytes = 0;
  std::string code;  // code hash of the kernel in that build or plugin; empty from a LocalTimer
  std::vector<LaunchedFunction> functions;
  std::optional<DramBytes> dram;
};

// Called once per kernel.  `images`: one per tensor of the op, null for inputs.
using JudgeOutputs = std::function<void(const std::string& kernel, const std::vector<std::byte*>& images)>;

class RowTimer {
 public:
  virtual ~RowTimer() = default;
  // Returns one entry per kernel of the order.  `inputs`: the images of the inputs, as pack() places them.
  virtual std::vector<KernelTimes> time(const TimingOrder& order, const SharedMemory& inputs, const JudgeOutputs& judge) = 0;
  virtual bool alive() const { return true; }
};

// Times in this process.
class LocalTimer final : public RowTimer {
 public:
  explicit LocalTimer(Backend& backend) : backend_(backend) {}
  std::vector<KernelTimes> time(const TimingOrder&, const SharedMemory& inputs, const JudgeOutputs&) override;

 private:
  Backend& backend_;
};

// Times in a child process.
class ChildTimer final : public RowTimer {
 public:
  // Starts `program`.  Throws BadInput if it cannot be started or does not speak the timer protocol.
  // `plugin`: the shared object whose kernels it times; empty: its own.
  ChildTimer(const std::string& program, const std::string& backend, double timeout_s, const std::string& plugin = {});
  ~ChildTimer() override;
  ChildTimer(const ChildTimer&) = delete;
  ChildTimer& operator=(const ChildTimer&) = delete;
  std::vector<KernelTimes> time(const TimingOrder&, const SharedMemory& inputs, const JudgeOutputs&) override;
  // Counts the DRAM bytes of a copy of `bytes` bytes in the child.  Throws std::runtime_error with the reason if it cannot count.
  DramBytes copy_dram_bytes(std::size_t bytes);
  bool alive() const override { return pid_ > 0; }
  const std::string& commit() const { return commit_; }
  const std::string& build() const { return build_; }

 private:
  bool send(const std::string& line);
  std::string receive();  // a line; empty if the process ended or timed out
  void end();
  int pid_ = -1, to_ = -1, from_ = -1;
  double timeout_s_ = 60;
  std::string pending_, commit_, build_;
};

// The child's side: answers orders until its standard input ends.  Returns the process's exit code.
int serve_times(std::string_view backend, const std::string& plugin);

}  // namespace assay
