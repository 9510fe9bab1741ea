// SPDX-License-Identifier: Apache-2.0
// The backend of a GPU: device 0.
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "validate/backends/backends.hpp"
#include "validate/backends/cuda_clock.hpp"
#include "validate/backends/cuda_counters.hpp"
#include "validate/base/error.hpp"
#include "validate/problem/op.hpp"
#include "validate/worker/clock.hpp"

namespace assay {

namespace {

using cuda::check;

class CudaBackend final : public Backend, public Clock {
 public:
  CudaBackend() {
    check(cudaSetDevice(0), "cudaSetDevice");
    check(cudaGetDeviceProperties(&properties_, 0), "cudaGetDeviceProperties");
    // Note: non-blocking streams do not wait for the null stream, so a kernel that wrongly works there is found.
    for (cudaStream_t& s : streams_) check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  ~CudaBackend() override {
    for (cudaStream_t s : streams_) cudaStreamDestroy(s);
  }
  std::string_view name() const override { return "cuda"; }
  void* allocate(std::size_t bytes, std::size_t offset, std::string_view label) override {
    void* base = nullptr;
    // Note: the runtime gives whole pages of 2 MiB, so one more byte may cost a page.
    const cudaError_t status = cudaMalloc(&base, bytes ? bytes + offset : offset + 1);
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // this error leaves the device usable
      throw NoMemory(fmt::format("needs {} MiB of device memory for '{}', which are not free", bytes >> 20, label));
    }
    check(status, "cudaMalloc");
    void* p = static_cast<char*>(base) + offset;
    bases_[p] = base;
    return p;
  }
  void release(void* p) noexcept override {
    if (const auto at = bases_.find(p); at != bases_.end()) {
      cudaFree(at->second);
      bases_.erase(at);
    }
  }
  bool checks_bounds() const override { return false; }
  void write(void* device, const void* host, std::size_t bytes) override {
    if (bytes == 0) return;
    check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), "copy to the device");
    writes_arrived_ = false;
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    if (bytes == 0) return;
    check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice), "copy within the device");
    writes_arrived_ = false;
  }
  void fill(void* device, std::byte garbage, std::size_t bytes) override {
    if (bytes == 0) return;
    check(cudaMemset(device, std::to_integer<int>(garbage), bytes), "fill");
    writes_arrived_ = false;
  }
  void read(void* host, const void* device, std::size_t bytes) override {
    if (bytes) check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), "copy from the device");
  }

  void run(Launcher launch_it, const void* args, void* workspace, const RunOptions& v) override {
    const cudaStream_t stream = streams_[v.order ? 1 : 0];
    wait_for_writes();
    launch_it(args, {.stream = stream, .workspace = workspace});
    check(cudaGetLastError(), "after the launch");
    check(cudaStreamSynchronize(stream), "running");
    check(cudaGetLastError(), "after running");
  }

  bool run_captured(Launcher launch_it, const void* args, void* workspace, const std::function<void()>& between) override {
    cuda::Graph graph(streams_[0], [&] { launch_it(args, {.stream = streams_[0], .workspace = workspace}); });
    const bool empty = graph.empty();
    between();
    wait_for_writes();
    if (!empty) {
      graph.instantiate();
      graph.launch(streams_[0]);
      check(cudaStreamSynchronize(streams_[0]), "running the graph");
    }
    return true;
  }

  std::unique_ptr<Replay> record(std::vector<BoundLaunch> launches, bool as_graph) override {
    return std::make_unique<StreamReplay>(*this, std::move(launches), as_graph);
  }

  std::vector<std::vector<double>> time_us(const std::vector<TimedLaunch>& kernels, double seconds, L2 l2) override {
    wait_for_writes();
    return cuda::time_us(streams_[0], kernels, seconds, l2);
  }
  std::vector<SteadyTimes> steady_us(const std::vector<TimedLaunch>& kernels, const std::vector<double>& about_us) override {
    wait_for_writes();
    return cuda::steady_us(streams_[0], kernels, about_us);
  }
  std::vector<LaunchedFunction> launched(const TimedLaunch& k, bool watched) override {
    return cuda::functions_of([&] {
      if (watched) check(cudaProfilerStart(), "cudaProfilerStart");
      run(k.launcher, k.args[0], k.workspace, {});
      if (watched) check(cudaProfilerStop(), "cudaProfilerStop");
    });
  }
  std::vector<DramBytes> dram_bytes(const std::vector<TimedLaunch>& kernels, const std::vector<double>& about_s) override {
    wait_for_writes();
    return cuda::dram_bytes(streams_[0], kernels, about_s);
  }
  DramBytes copy_dram_bytes(std::size_t bytes) override { return cuda::copy_dram_bytes(streams_[0], bytes); }
  Launcher copier() const override { return cuda::copy_within; }
  double copy_rate() override {
    return cuda::copy_rate(streams_[0], std::min<std::size_t>(std::size_t{2} << 30, properties_.totalGlobalMem / 8));
  }
  double matrix_rate(DType type) override { return cuda::matrix_rate(streams_[0], type); }
  double peak_bytes_rate() const override {
    return 2e3 * attribute(cudaDevAttrMemoryClockRate) * attribute(cudaDevAttrGlobalMemoryBusWidth) / 8;
  }
  double peak_flops_rate(DType type) const override {
    // Dense f16 operations per SM and clock, by NVIDIA's white papers; TF32 has half.  Unknown architectures get the highest.
    const int a = arch();
    const double of_sm = a < 80 ? 1024 : a == 80 || a == 87 ? 2048 : a < 90 ? 1024 : a == 90 ? 4096 : 8192;
    return of_sm * (type == f32 ? 0.5 : 1) * properties_.multiProcessorCount * 1e3 * attribute(cudaDevAttrClockRate);
  }
  std::optional<std::size_t> memory_free() override {
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return free;
  }
  std::size_t memory_in_use() override {
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return total - free;
  }
  std::string bus_id() const override {
    char text[32] = "";
    check(cudaDeviceGetPCIBusId(text, sizeof text, 0), "cudaDeviceGetPCIBusId");
    return text;
  }

  Launcher launcher(const Kernel& k) const override { return k.on_gpu; }
  Clock* clock() override { return this; }
  int arch() const override { return properties_.major * 10 + properties_.minor; }

 private:
  class StreamReplay final : public Replay {
   public:
    StreamReplay(CudaBackend& backend, std::vector<BoundLaunch> launches, bool as_graph)
        : backend_(backend), launches_(std::move(launches)) {
      if (as_graph) {
        graph_.emplace(stream(), [&] { launch_all(); });
        graph_->instantiate();
      }
    }
    void run(int times) override {
      backend_.wait_for_writes();
      for (int i = 0; i < times; ++i) {
        if (graph_) graph_->launch(stream());
        else launch_all();
      }
      check(cudaGetLastError(), "after the launch");
      check(cudaStreamSynchronize(stream()), "running");
    }

   private:
    cudaStream_t stream() const { return backend_.streams_[0]; }
    void launch_all() {
      for (const BoundLaunch& l : launches_) l.launcher(l.args, {.stream = stream(), .workspace = l.workspace, .after = l.after});
    }
    CudaBackend& backend_;
    std::vector<BoundLaunch> launches_;
    std::optional<cuda::Graph> graph_;
  };

  // Waits until writes have arrived.  Note: a copy from pageable memory may return before its last bytes have arrived, a fill
  // before it has begun, and our streams wait for neither.
  void wait_for_writes() {
    if (!writes_arrived_) check(cudaDeviceSynchronize(), "before the launch");
    writes_arrived_ = true;
  }
  static double attribute(cudaDeviceAttr which) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, 0), "cudaDeviceGetAttribute");
    return value;
  }
  cudaDeviceProp properties_{};
  cudaStream_t streams_[2] = {};
  bool writes_arrived_ = false;  // all writes to the device have arrived
  std::map<void*, void*> bases_;
};

}  // namespace

BackendInfo cuda_info() {
  BackendInfo info{.name = "cuda", .built = true, .unavailable = "", .device = ""};
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    info.unavailable = status == cudaSuccess || status == cudaErrorNoDevice ? "no GPU in this machine"
                       : status == cudaErrorInsufficientDriver ? "no NVIDIA driver, or one older than this build needs"
                                                               : cudaGetErrorString(status);
    return info;
  }
  cudaDeviceProp p;
  if (cudaGetDeviceProperties(&p, 0) == cudaSuccess) info.device = p.name;
  return info;
}

std::unique_ptr<Backend> open_cuda() { return std::make_unique<CudaBackend>(); }

}  // namespace assay
