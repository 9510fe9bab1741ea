// SPDX-License-Identifier: Apache-2.0
#include "validate/bench/timer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "validate/base/error.hpp"
#include "validate/problem/image.hpp"
#include "validate/records/stats.hpp"
#include "validate/values/random.hpp"
#include "validate/worker/guarded_buffer.hpp"
#include "validate/worker/plugin.hpp"
#include "validate/worker/protocol.hpp"

namespace assay {

namespace {

// A problem in device memory, in several copies ("places").
class DeviceProblem {
 public:
  // Launches take turns over the places, so that large tensors have left the caches when their turn comes.
  DeviceProblem(Backend& backend, const Op& op, const Case& c, const std::byte* inputs)
      : backend_(backend), op_(op), case_(c), packing_(pack(op, c)), inputs_(inputs) {
    for (const Placement& p : packing_.placements) bytes_ += p.bytes;
  }
  ~DeviceProblem() {
    for (void* p : memory_) backend_.release(p);
    if (workspace_) backend_.release(workspace_);
  }
  DeviceProblem(const DeviceProblem&) = delete;
  DeviceProblem& operator=(const DeviceProblem&) = delete;

  // Takes the memory.  Note: not in the constructor, since the destructor releases what there is if memory runs out.
  void add_places() {
    // 192 MB is more than three times the largest L2 cache.
    const std::size_t places = std::clamp<std::size_t>((std::size_t{192} << 20) / std::max<std::size_t>(bytes_, 1), 2, 16);
    for (std::size_t s = 0; s < places; ++s) add_place(s > 0);
  }
  std::size_t bytes() const { return bytes_; }
  std::size_t places() const { return problems_.size(); }
  std::size_t workspace_bytes(const Kernel& k) { return k.workspace_bytes(args(k, 0)); }
  // Says why the kernel cannot run here; empty: it can.
  std::string why_not(const Kernel& k) {
    if (!backend_.launcher(k)) return "not built for this backend";
    if (const std::string needed = needs_arch(k, backend_.arch()); !needed.empty()) return "needs " + needed;
    if (const Legality ok = k.available(); !ok) return ok.why;
    return k.supports(args(k, 0)).why;
  }
  // All kernels share one workspace, as large as the largest needs.
  void reserve_workspace(const Kernel& k) {
    const std::size_t bytes = workspace_bytes(k);
    if (bytes <= workspace_room_) return;
    require_some_memory_has(bytes, "workspace");
    void* const larger = backend_.allocate(bytes, 0, "workspace");
    if (workspace_) backend_.release(workspace_);
    workspace_ = larger;
    workspace_room_ = bytes;
  }
  TimedLaunch launch(const Kernel& k) {
    TimedLaunch t{.launcher = backend_.launcher(k), .args = {}, .workspace = workspace_};
    for (std::size_t place = 0; place < problems_.size(); ++place) t.args.push_back(args(k, place));
    return t;
  }
  void run_once(const Kernel& k, std::size_t place) { backend_.run(backend_.launcher(k), args(k, place), workspace_, {}); }

  // Seconds of a launch on the host's clock: the least of at most four launches, for at most about half a second.  Only the first
  // loads code and lets a library choose its algorithm, so it counts only if it is alone.
  double estimate(const Clock& clock, const Kernel& k) {
    double least = 0, sum = 0;
    for (int times = 0; times < 4 && sum < 0.5; ++times) {
      const double start = clock.now_s();
      run_once(k, 0);
      const double seconds = clock.now_s() - start;
      least = times ? std::min(least, seconds) : seconds;
      sum += seconds;
    }
    return least;
  }

  // Runs the kernel at a place that no launch has used, on outputs that hold garbage, and reads the outputs into `images`.
  void outputs_at_a_fresh_place(const Kernel& k, const std::vector<std::vector<std::byte>*>& images) {
    if (!fresh_) fresh_ = add_place(false);
    for (std::size_t i = 0; i < op_.tensors.size(); ++i) {
      if (op_.tensors[i].role != Role::output) continue;
      images[i]->resize(packing_.placements[i].bytes);
      void* const there = memory_[*fresh_ * op_.tensors.size() + i];
      if (is_given(op_.tensors[i])) backend_.write(there, inputs_ + packing_.given[i], images[i]->size());
      else backend_.fill(there, kGarbage[0], images[i]->size());
    }
    run_once(k, *fresh_);
    for (std::size_t i = 0; i < op_.tensors.size(); ++i)
      if (op_.tensors[i].role == Role::output)
        backend_.read(images[i]->data(), memory_[*fresh_ * op_.tensors.size() + i], images[i]->size());
  }

 private:
  // What the kernel's functions take for the problem at a place.
  const void* args(const Kernel& k, std::size_t place) {
    if (!k.plugin) return problems_[place]->args();
    std::unique_ptr<PluginCall>& call = calls_[{&k, place}];
    if (!call)
      call = std::make_unique<PluginCall>(op_, k, order_of(op_, case_, packing_, k.name), problems_[place]->tensors(),
                                          backend_.name() == "cuda" ? 2 : 1);
    return call.get();
  }
  // `copied`: takes the inputs from the first place, which no launch has changed yet; else from the host.
  std::size_t add_place(bool copied) {
    std::vector<std::byte*> pointers;
    for (std::size_t i = 0; i < op_.tensors.size(); ++i) {
      const Placement& p = packing_.placements[i];
      memory_.push_back(backend_.allocate(p.bytes, p.offset, op_.tensors[i].name));
      pointers.push_back(static_cast<std::byte*>(memory_.back()));
      if (!is_given(op_.tensors[i])) continue;
      if (copied) backend_.copy(memory_.back(), memory_[i], p.bytes);
      else backend_.write(memory_.back(), inputs_ + packing_.given[i], p.bytes);
    }
    problems_.push_back(op_.make());
    attach(*problems_.back(), case_, packing_.placements, pointers);
    return problems_.size() - 1;
  }

  Backend& backend_;
  const Op& op_;
  const Case& case_;
  Packing packing_;
  const std::byte* inputs_;
  std::size_t bytes_ = 0;
  std::vector<void*> memory_;
  std::vector<std::unique_ptr<Problem>> problems_;
  std::map<std::pair<const Kernel*, std::size_t>, std::unique_ptr<PluginCall>> calls_;  // only of a plugin's kernels
  std::optional<std::size_t> fresh_;
  void* workspace_ = nullptr;
  std::size_t workspace_room_ = 0;
};

// A copy within device memory, in as many places as the problem that it takes turns with.
class DeviceCopies {
 public:
  explicit DeviceCopies(Backend& backend) : backend_(backend) {}
  ~DeviceCopies() { release(); }
  DeviceCopies(const DeviceCopies&) = delete;
  DeviceCopies& operator=(const DeviceCopies&) = delete;

  // Returns false if there is no memory for it, or too little would be left for what the timing and libraries allocate.
  bool add_places(std::size_t places, std::size_t bytes) {
    constexpr std::size_t kLeft = std::size_t{1} << 30;
    if (const auto free = backend_.memory_free(); free && *free < 2 * places * bytes + kLeft) return false;
    // Note: noise, since a GPU may be faster on zeros or constants.
    std::vector<std::uint64_t> noise(1 << 17);
    for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = random::bits(0, i);
    const std::size_t most = noise.size() * sizeof noise[0];
    try {
      for (std::size_t s = 0; s < places; ++s) {
        DeviceCopy& c = copies_.emplace_back(DeviceCopy{.bytes = bytes});
        for (void** p : {&c.from, &c.to}) *p = backend_.allocate(bytes, 0, "copy");
        for (std::size_t at = 0; at < bytes; at += most)
          backend_.write(static_cast<std::byte*>(c.from) + at, noise.data(), std::min(most, bytes - at));
      }
    } catch (const NoMemory&) {
      release();
    }
    return !copies_.empty();
  }
  TimedLaunch launch(Launcher copier) const {
    TimedLaunch t{.launcher = copier, .args = {}, .workspace = nullptr};
    for (const DeviceCopy& c : copies_) t.args.push_back(&c);
    return t;
  }
  void release() {
    for (const DeviceCopy& c : copies_)
      for (void* p : {c.from, c.to})
        if (p) backend_.release(p);
    copies_.clear();
  }

 private:
  Backend& backend_;
  std::vector<DeviceCopy> copies_;
};

// The kernels that can run here, with their estimated times; the others get a reason in `left_out`.
struct Candidate {
  const Kernel* kernel = nullptr;
  KernelTimes* times = nullptr;
  double estimate_s = 0;
};

void set_failed(KernelTimes& t, const std::exception& e, const char* when = "") {
  t.left_out = fmt::format("FAILED{}: {}", when, e.what());
  t.failed = true;
}

std::vector<Candidate> candidates_of(const Clock& clock, DeviceProblem& device, const TimingOrder& order,
                                     std::vector<KernelTimes>& all) {
  std::vector<Candidate> chosen;
  for (std::size_t i = 0; i < order.kernels.size(); ++i) {
    KernelTimes& t = all[i];
    t.kernel = order.kernels[i];
    const Kernel* k = find_kernel(order.op->name, t.kernel);
    try {
      t.left_out = !k ? "this build has no such kernel" : device.why_not(*k);
      if (t.left_out.empty()) {
        device.reserve_workspace(*k);
        chosen.push_back({k, &t});
      }
    } catch (const NoMemory& e) {
      t.left_out = e.what();
    } catch (const std::exception& e) {
      set_failed(t, e);
    }
  }
  std::erase_if(chosen, [&](Candidate& c) {
    try {
      c.estimate_s = device.estimate(clock, *c.kernel);
    } catch (const std::exception& e) {
      set_failed(*c.times, e);
    }
    return c.times->failed;
  });
  return chosen;
}

void leave_out_slow(std::vector<Candidate>& chosen) {
  constexpr double kTooSlow = 50, kQuick = 0.02;  // times the fastest; seconds: what is as quick is never left out
  double fastest = chosen.empty() ? 0 : chosen[0].estimate_s;
  for (const Candidate& c : chosen) fastest = std::min(fastest, c.estimate_s);
  std::erase_if(chosen, [&](const Candidate& c) {
    if (c.estimate_s <= std::max(kQuick, kTooSlow * fastest)) return false;
    c.times->slow = true;
    c.times->left_out = fmt::format("{:.1f} ms, {:.0f} times the fastest", 1e3 * c.estimate_s, c.estimate_s / fastest);
    return true;
  });
}

// Runs each kernel once more, at a place that no launch has used, and hands its outputs to `judge`.
void judge_all(DeviceProblem& device, const std::vector<Candidate>& chosen, const Op& op, const JudgeOutputs& judge) {
  std::vector<std::vector<std::byte>> room(op.tensors.size());
  for (const Candidate& c : chosen) {
    std::vector<std::vector<std::byte>*> images;
    for (auto& r : room) images.push_back(&r);
    try {
      device.outputs_at_a_fresh_place(*c.kernel, images);
      std::vector<std::byte*> out;
      for (std::size_t i = 0; i < room.size(); ++i) out.push_back(op.tensors[i].role == Role::output ? room[i].data() : nullptr);
      judge(c.times->kernel, out);
    } catch (const std::exception& e) {
      set_failed(*c.times, e, " after the timing");
    }
  }
}

// Seconds.  A profiler replays each launch many times, once a group of counters, so only short ones are launched.
constexpr double kLongestOnce = 0.03;

void launch_once(Clock& clock, DeviceProblem& device, const std::vector<Candidate>& chosen) {
  for (const Candidate& c : chosen) {
    if (c.estimate_s > kLongestOnce) {
      c.times->left_out = fmt::format("{:.1f} ms a launch, more than {:.0f}", 1e3 * c.estimate_s, 1e3 * kLongestOnce);
      continue;
    }
    try {
      c.times->functions = clock.launched(device.launch(*c.kernel), true);
    } catch (const std::exception& e) {
      set_failed(*c.times, e);
    }
  }
}

void count_dram(Clock& clock, const std::vector<Candidate>& chosen, const std::vector<TimedLaunch>& launches) {
  std::vector<double> about;
  for (const Candidate& c : chosen) about.push_back(c.estimate_s);
  try {
    const std::vector<DramBytes> bytes = clock.dram_bytes(launches, about);
    for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i].times->dram = bytes[i];
  } catch (const std::runtime_error& e) {
    for (const Candidate& c : chosen) c.times->left_out = e.what();
  }
}

}  // namespace

std::vector<KernelTimes> LocalTimer::time(const TimingOrder& order, const SharedMemory& inputs, const JudgeOutputs& judge) {
  std::vector<KernelTimes> all(order.kernels.size());
  Clock& clock = clock_of(backend_);
  DeviceProblem device(backend_, *order.op, order.c, inputs.data());
  device.add_places();
  std::vector<Candidate> chosen = candidates_of(clock, device, order, all);
  if (order.leave_out_slow) leave_out_slow(chosen);
  if (chosen.empty()) return all;
  if (order.once) {
    launch_once(clock, device, chosen);
    return all;
  }
  std::vector<TimedLaunch> launches;
  for (const Candidate& c : chosen) launches.push_back(device.launch(*c.kernel));
  if (order.dram) {
    count_dram(clock, chosen, launches);
    return all;
  }
  std::vector<TimedLaunch> turns = launches;
  DeviceCopies copies(backend_);
  const bool copied = order.copy_bytes && copies.add_places(device.places(), order.copy_bytes);
  if (copied) turns.push_back(copies.launch(clock.copier()));
  const std::size_t in_use = backend_.memory_in_use();
  std::vector<std::vector<double>> cold = clock.time_us(turns, order.seconds, order.l2);
  std::vector<double> about;
  for (std::size_t i = 0; i < chosen.size(); ++i) about.push_back(quantile(cold[i], 0.5));
  std::vector<SteadyTimes> steady = clock.steady_us(launches, about);
  const std::size_t more = std::max(in_use, backend_.memory_in_use()) - in_use;
  copies.release();  // judging needs memory
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    KernelTimes& t = *chosen[i].times;
    if (copied) t.copy_us = cold.back();
    t.cold_us = std::move(cold[i]);
    t.steady = std::move(steady[i]);
    t.tensor_bytes = device.bytes();
    t.workspace_bytes = device.workspace_bytes(*chosen[i].kernel);
    t.other_bytes = more;
  }
  if (order.functions)
    for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i].times->functions = clock.launched(launches[i], false);
  if (order.judge) judge_all(device, chosen, *order.op, judge);
  return all;
}

}  // namespace assay
