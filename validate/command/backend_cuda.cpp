// SPDX-License-Identifier: Apache-2.0
// A GPU as a backend.
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#if defined(ASSAY_CUBLASLT)
#include "cuda/core/vendor/cublaslt.hpp"
#endif
#include "validate/command/backends.hpp"
#include "validate/op.hpp"

namespace assay {

namespace {

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess)
    throw std::runtime_error(fmt::format("{}: {} ({})", what, cudaGetErrorName(status), cudaGetErrorString(status)));
}

class CudaBackend final : public Backend {
 public:
  CudaBackend() {
    check(cudaSetDevice(0), "cudaSetDevice");
    check(cudaGetDeviceProperties(&properties_, 0), "cudaGetDeviceProperties");
    // Note: non-blocking streams do not wait for the null stream, so work that a kernel leaves there shows.
    for (cudaStream_t& s : streams_) check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  ~CudaBackend() override {
    for (cudaStream_t s : streams_) cudaStreamDestroy(s);
  }
  std::string_view name() const override { return "cuda"; }
  void* allocate(std::size_t bytes, std::size_t offset, std::string_view label) override {
    void* base = nullptr;
    const cudaError_t status = cudaMalloc(&base, bytes + offset + 1);
    if (status != cudaSuccess)
      throw std::runtime_error(fmt::format("{} bytes of device memory for '{}': {}", bytes, label, cudaGetErrorName(status)));
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
    // Note: a copy from pageable memory may return before its last bytes have arrived, and our streams do not wait for it.
    check(cudaStreamSynchronize(nullptr), "copy to the device");
  }
  void read(void* host, const void* device, std::size_t bytes) override {
    if (bytes) check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), "copy from the device");
  }

  void run(Launcher launch_it, const void* args, void* workspace, const Variation& v) override {
    const cudaStream_t stream = streams_[v.order ? 1 : 0];
    check(cudaDeviceSynchronize(), "before the launch");
    launch_it(args, {.stream = stream, .workspace = workspace});
    check(cudaGetLastError(), "after the launch");
    check(cudaStreamSynchronize(stream), "running");
    check(cudaGetLastError(), "after running");
  }

  bool run_captured(Launcher launch_it, const void* args, void* workspace, const std::function<void()>& between) override {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    check(cudaStreamBeginCapture(streams_[0], cudaStreamCaptureModeThreadLocal), "begin capture");
    try {
      launch_it(args, {.stream = streams_[0], .workspace = workspace});
    } catch (...) {
      cudaStreamEndCapture(streams_[0], &graph);
      cudaGraphDestroy(graph);
      throw;
    }
    check(cudaStreamEndCapture(streams_[0], &graph), "end capture");
    std::size_t nodes = 0;
    check(cudaGraphGetNodes(graph, nullptr, &nodes), "counting graph nodes");
    between();
    if (nodes) {
      check(cudaGraphInstantiate(&executable, graph, 0), "instantiate graph");
      check(cudaGraphLaunch(executable, streams_[0]), "launch graph");
      check(cudaStreamSynchronize(streams_[0]), "running the graph");
      check(cudaGraphExecDestroy(executable), "destroy graph");
    }
    check(cudaGraphDestroy(graph), "destroy graph");
    return true;
  }

  std::vector<std::vector<double>> time_us(const std::vector<TimedLaunch>& kernels, double seconds) override {
    constexpr int kLeast = 5, kMost = 1000, kWarmUp = 5, kBatch = 20;
    const std::size_t flush_bytes = std::size_t{256} << 20;  // five times the L2 of an H200
    void* flushed = nullptr;
    check(cudaMalloc(&flushed, flush_bytes), "memory to flush the L2 cache with");
    cudaEvent_t begin[kBatch], end[kBatch];
    for (int i = 0; i < kBatch; ++i) {
      check(cudaEventCreate(&begin[i]), "cudaEventCreate");
      check(cudaEventCreate(&end[i]), "cudaEventCreate");
    }
    const cudaStream_t stream = streams_[0];
    const auto launch = [&](const TimedLaunch& k, int round) {
      k.launcher(k.args[static_cast<std::size_t>(round) % k.args.size()], {.stream = stream, .workspace = k.workspace});
    };
    for (const TimedLaunch& k : kernels)
      for (int i = 0; i < kWarmUp; ++i) launch(k, i);
    check(cudaStreamSynchronize(stream), "warming up");

    std::vector<std::vector<double>> us(kernels.size());
    std::vector<std::size_t> owner;
    const auto collect = [&] {
      check(cudaStreamSynchronize(stream), "timing");
      for (std::size_t i = 0; i < owner.size(); ++i) {
        float ms = 0;
        check(cudaEventElapsedTime(&ms, begin[i], end[i]), "cudaEventElapsedTime");
        us[owner[i]].push_back(1e3 * static_cast<double>(ms));
      }
      owner.clear();
    };
    const auto start = std::chrono::steady_clock::now();
    for (int round = 0; round < kMost; ++round) {
      if (round >= kLeast && std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds) break;
      for (std::size_t k = 0; k < kernels.size(); ++k) {
        // Note: the flush also keeps the device busy while the launch is queued, so no launch latency is timed.
        check(cudaMemsetAsync(flushed, round & 0xff, flush_bytes, stream), "flushing the L2 cache");
        check(cudaEventRecord(begin[owner.size()], stream), "cudaEventRecord");
        launch(kernels[k], round);
        check(cudaEventRecord(end[owner.size()], stream), "cudaEventRecord");
        owner.push_back(k);
        if (owner.size() == kBatch) collect();
      }
    }
    collect();
    for (int i = 0; i < kBatch; ++i) cudaEventDestroy(begin[i]), cudaEventDestroy(end[i]);
    check(cudaFree(flushed), "cudaFree");
    return us;
  }

  double copy_rate() override {
    const std::size_t bytes = std::min<std::size_t>(std::size_t{2} << 30, properties_.totalGlobalMem / 8);
    void *from = nullptr, *to = nullptr;
    check(cudaMalloc(&from, bytes), "memory to copy from");
    check(cudaMalloc(&to, bytes), "memory to copy to");
    // Note: bytes that are neither zero nor constant, for a card may be faster on those.
    std::vector<std::uint64_t> noise(1 << 20);
    for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = (i + 1) * 0x9e3779b97f4a7c15u ^ (i << 29);
    for (std::size_t at = 0; at + noise.size() * 8 <= bytes; at += noise.size() * 8)
      check(cudaMemcpy(static_cast<char*>(from) + at, noise.data(), noise.size() * 8, cudaMemcpyHostToDevice), "filling");
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin), "cudaEventCreate");
    check(cudaEventCreate(&end), "cudaEventCreate");
    std::vector<double> rates;
    for (int i = 0; i < 14; ++i) {
      check(cudaEventRecord(begin, streams_[0]), "cudaEventRecord");
      check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, streams_[0]), "copy within the device");
      check(cudaEventRecord(end, streams_[0]), "cudaEventRecord");
      check(cudaEventSynchronize(end), "copy within the device");
      float ms = 0;
      check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
      if (i >= 3) rates.push_back(2 * static_cast<double>(bytes) / (1e-3 * static_cast<double>(ms)));
    }
    cudaEventDestroy(begin), cudaEventDestroy(end);
    cudaFree(from), cudaFree(to);
    std::nth_element(rates.begin(), rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2), rates.end());
    return rates[rates.size() / 2];
  }

#if defined(ASSAY_CUBLASLT)
  // The best of a few, of 8192 x 8192 x 8192 on numbers from -1 to 1.
  double matrix_rate(DType type) override {
    constexpr std::int64_t kSide = 8192;
    constexpr int kTimes = 12;
    if (!vendor::cublaslt::available()) return 0;
    const std::size_t bytes = kSide * kSide * static_cast<std::size_t>(size_of(type));
    // Note: numbers that differ, for a card draws less power and runs faster on constants.  An odd count, so that the rows do.
    std::vector<std::byte> noise(static_cast<std::size_t>(size_of(type)) * ((1 << 20) + 1));
    std::uint64_t state = 1;
    for (std::int64_t i = 0; i <= 1 << 20; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      encode(type, noise.data(), i, 0x1p-31 * static_cast<double>(state >> 32) - 1);
    }
    vendor::cublaslt::Matmul m{};
    for (Tensor* t : {&m.x, &m.w, &m.y}) {
      *t = {.dtype = type, .rank = 2, .shape = {kSide, kSide}, .stride = {kSide, 1}};
      check(cudaMalloc(&t->data, bytes), "memory for a matrix product");
      for (std::size_t at = 0; at < bytes; at += noise.size())
        check(cudaMemcpy(static_cast<char*>(t->data) + at, noise.data(), std::min(noise.size(), bytes - at),
                         cudaMemcpyHostToDevice),
              "filling");
    }
    double best = 0;
    if (vendor::cublaslt::supports(m)) {
      Launch l{.stream = streams_[0]};
      check(cudaMalloc(&l.workspace, vendor::cublaslt::workspace_bytes(m) + 1), "workspace of a matrix product");
      cudaEvent_t begin, end;
      check(cudaEventCreate(&begin), "cudaEventCreate");
      check(cudaEventCreate(&end), "cudaEventCreate");
      for (int i = 0; i < kTimes; ++i) {
        check(cudaEventRecord(begin, streams_[0]), "cudaEventRecord");
        vendor::cublaslt::run(m, l);
        check(cudaEventRecord(end, streams_[0]), "cudaEventRecord");
        check(cudaEventSynchronize(end), "matrix product");
        float ms = 0;
        check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
        best = std::max(best, 2.0 * kSide * kSide * kSide / (1e-3 * static_cast<double>(ms)));
      }
      cudaEventDestroy(begin), cudaEventDestroy(end);
      cudaFree(l.workspace);
    }
    for (const Tensor* t : {&m.x, &m.w, &m.y}) cudaFree(t->data);
    return best;
  }
#endif

  Launcher launcher(const Kernel& k) const override { return k.on_gpu; }
  int arch() const override { return properties_.major * 10 + properties_.minor; }

 private:
  cudaDeviceProp properties_{};
  cudaStream_t streams_[2] = {};
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
