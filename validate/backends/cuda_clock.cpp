// SPDX-License-Identifier: Apache-2.0
#include "validate/backends/cuda_clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>

#if defined(ASSAY_CUBLASLT)
#include "cuda/core/vendor/cublaslt.hpp"
#endif

namespace assay::cuda {

namespace {

// nullptr if the launches cannot be captured, which is no failure of a kernel.
std::unique_ptr<Graph> captured(cudaStream_t stream, const std::function<void()>& launches) {
  try {
    auto graph = std::make_unique<Graph>(stream, launches);
    graph->instantiate();
    return graph;
  } catch (const std::runtime_error&) {
    cudaGetLastError();  // clears the error
    return nullptr;
  }
}

// Flushes the L2 cache by a write of 256 MB, five times what an H200's holds.  Into a clean cache 128 MB are read after it, a
// piece at a time, each copied to the same 2 MB: what remains to be written back is these 2 MB.
class CacheFlush {
 public:
  CacheFlush(cudaStream_t stream, L2 l2) : stream_(stream) {
    check(cudaMalloc(&memory_, kBytes), "memory to flush the L2 cache with");
    if (l2 != L2::clean) return;
    constexpr std::size_t kRead = kBytes / 2, kPiece = std::size_t{2} << 20;
    reads_ = std::make_unique<Graph>(stream, [&] {
      char* const to = static_cast<char*>(memory_) + kRead;
      for (std::size_t at = 0; at < kRead; at += kPiece)
        check(cudaMemcpyAsync(to, static_cast<char*>(memory_) + at, kPiece, cudaMemcpyDeviceToDevice, stream), "reading");
    });
    reads_->instantiate();
  }
  ~CacheFlush() { cudaFree(memory_); }
  CacheFlush(const CacheFlush&) = delete;
  CacheFlush& operator=(const CacheFlush&) = delete;

  void operator()(int round) const {
    check(cudaMemsetAsync(memory_, round & 0xff, kBytes, stream_), "flushing the L2 cache");
    if (reads_) reads_->launch(stream_);
  }

 private:
  static constexpr std::size_t kBytes = std::size_t{256} << 20;
  cudaStream_t stream_;
  void* memory_ = nullptr;
  std::unique_ptr<Graph> reads_;
};

}  // namespace

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess)
    throw std::runtime_error(fmt::format("{}: {} ({})", what, cudaGetErrorName(status), cudaGetErrorString(status)));
}

Graph::Graph(cudaStream_t stream, const std::function<void()>& launches) {
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin capture");
  try {
    launches();
  } catch (...) {
    cudaStreamEndCapture(stream, &graph_);
    if (graph_) cudaGraphDestroy(graph_);
    throw;
  }
  check(cudaStreamEndCapture(stream, &graph_), "end capture");
}
Graph::~Graph() {
  if (executable_) cudaGraphExecDestroy(executable_);
  cudaGraphDestroy(graph_);
}
bool Graph::empty() const {
  std::size_t nodes = 0;
  check(cudaGraphGetNodes(graph_, nullptr, &nodes), "counting graph nodes");
  return nodes == 0;
}
void Graph::instantiate() { check(cudaGraphInstantiate(&executable_, graph_, 0), "instantiate graph"); }
void Graph::launch(cudaStream_t stream) const { check(cudaGraphLaunch(executable_, stream), "launch graph"); }

std::vector<std::vector<double>> time_us(cudaStream_t stream, const std::vector<TimedLaunch>& kernels, double seconds, L2 l2) {
  constexpr int kBatch = 20;
  constexpr int kMostFlushes = 64;  // of 60 us each, or more
  const CacheFlush flush(stream, l2);
  cudaEvent_t begin[kBatch], end[kBatch];
  for (int i = 0; i < kBatch; ++i) {
    check(cudaEventCreate(&begin[i]), "cudaEventCreate");
    check(cudaEventCreate(&end[i]), "cudaEventCreate");
  }
  const auto launch = [&](const TimedLaunch& k, int round) {
    k.launcher(k.args[static_cast<std::size_t>(round) % k.args.size()], {.stream = stream, .workspace = k.workspace});
  };
  std::vector<std::vector<double>> us(kernels.size());
  std::vector<double> uncounted;
  std::vector<std::vector<double>*> owner;  // of the launches that are queued
  std::vector<int> flushes(kernels.size(), 1);
  const auto collect = [&] {
    check(cudaStreamSynchronize(stream), "timing");
    for (std::size_t i = 0; i < owner.size(); ++i) {
      float ms = 0;
      check(cudaEventElapsedTime(&ms, begin[i], end[i]), "cudaEventElapsedTime");
      owner[i]->push_back(1e3 * static_cast<double>(ms));
    }
    owner.clear();
  };
  // Queues flushes and a launch.  Returns whether all was queued before the device came to the launch: flushes keep the device
  // busy meanwhile, so that host latency is not timed.  Note: a device that idles instead is 2 us slower at first.
  const auto queued_ahead = [&](std::size_t k, int round) {
    const std::size_t at = owner.size();
    for (int i = 0; i < flushes[k]; ++i) flush(round);
    check(cudaEventRecord(begin[at], stream), "cudaEventRecord");
    launch(kernels[k], round);
    check(cudaEventRecord(end[at], stream), "cudaEventRecord");
    const cudaError_t reached = cudaEventQuery(begin[at]);
    if (reached == cudaErrorNotReady) cudaGetLastError();  // clears it: this is not a failure
    else check(reached, "timing");
    return reached == cudaErrorNotReady;
  };
  const auto now_s = [] { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); };
  for (TimedRounds rounds(seconds); rounds.next(now_s());)
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      while (!queued_ahead(k, rounds.round()) && flushes[k] < kMostFlushes) flushes[k] *= 2;
      owner.push_back(rounds.counts() ? &us[k] : &uncounted);
      if (owner.size() == kBatch) collect();
    }
  collect();
  for (int i = 0; i < kBatch; ++i) {
    cudaEventDestroy(begin[i]);
    cudaEventDestroy(end[i]);
  }
  return us;
}

// Short launches are replayed from a graph of many, so that the host's part in a launch is not timed.  Launches that cannot be
// captured are timed directly.
std::vector<SteadyTimes> steady_us(cudaStream_t stream, const std::vector<TimedLaunch>& kernels,
                                   const std::vector<double>& about_us) {
  constexpr int kBatches = 10, kMost = 20;
  constexpr double kGraphBelow = 10, kBatch = 200;  // us
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<SteadyTimes> all;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    SteadyTimes t;
    t.launches = std::clamp(static_cast<int>(kBatch / std::max(about_us[k], 0.1)), 1, kMost);
    const auto launches = [&] {
      for (int i = 0; i < t.launches; ++i)
        kernels[k].launcher(kernels[k].args[0], {.stream = stream, .workspace = kernels[k].workspace});
    };
    const std::unique_ptr<Graph> graph = about_us[k] < kGraphBelow ? captured(stream, launches) : nullptr;
    t.graph = graph != nullptr;
    const auto batch = [&] {
      if (graph) graph->launch(stream);
      else launches();
    };
    batch();
    for (int i = 0; i < kBatches; ++i) {
      check(cudaEventRecord(begin, stream), "cudaEventRecord");
      batch();
      check(cudaEventRecord(end, stream), "cudaEventRecord");
      check(cudaEventSynchronize(end), "timing in steady state");
      float ms = 0;
      check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
      t.us.push_back(1e3 * static_cast<double>(ms) / t.launches);
    }
    all.push_back(std::move(t));
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return all;
}

void copy_within(const void* device_copy, const Launch& l) {
  const DeviceCopy& c = *static_cast<const DeviceCopy*>(device_copy);
  check(cudaMemcpyAsync(c.to, c.from, c.bytes, cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(l.stream)),
        "copy within the device");
}

double copy_rate(cudaStream_t stream, std::size_t bytes) {
  DeviceCopy copy{.bytes = bytes};
  check(cudaMalloc(&copy.from, bytes), "memory to copy from");
  check(cudaMalloc(&copy.to, bytes), "memory to copy to");
  // Note: noise, since a GPU may be faster on zeros or constants.
  std::vector<std::uint64_t> noise(1 << 20);
  for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = (i + 1) * 0x9e3779b97f4a7c15u ^ (i << 29);
  for (std::size_t at = 0; at + noise.size() * 8 <= bytes; at += noise.size() * 8)
    check(cudaMemcpy(static_cast<char*>(copy.from) + at, noise.data(), noise.size() * 8, cudaMemcpyHostToDevice), "filling");
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<double> rates;
  for (int i = 0; i < 14; ++i) {
    check(cudaEventRecord(begin, stream), "cudaEventRecord");
    copy_within(&copy, {.stream = stream});
    check(cudaEventRecord(end, stream), "cudaEventRecord");
    check(cudaEventSynchronize(end), "copy within the device");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
    if (i >= 3) rates.push_back(2 * static_cast<double>(bytes) / (1e-3 * static_cast<double>(ms)));
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  cudaFree(copy.from);
  cudaFree(copy.to);
  std::nth_element(rates.begin(), rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2), rates.end());
  return rates[rates.size() / 2];
}

#if defined(ASSAY_CUBLASLT)
// The best of kTimes products of 8192 x 8192 x 8192, on numbers from -1 to 1.
double matrix_rate(cudaStream_t stream, DType type) {
  constexpr std::int64_t kSide = 8192;
  constexpr int kTimes = 12;
  if (!vendor::cublaslt::available()) return 0;
  const std::size_t bytes = kSide * kSide * static_cast<std::size_t>(size_of(type));
  // Note: noise, since a GPU draws less power and runs faster on constants.  The count is odd, so that rows differ.
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
      check(
          cudaMemcpy(static_cast<char*>(t->data) + at, noise.data(), std::min(noise.size(), bytes - at), cudaMemcpyHostToDevice),
          "filling");
  }
  double best = 0;
  if (vendor::cublaslt::supports(m)) {
    Launch l{.stream = stream};
    check(cudaMalloc(&l.workspace, vendor::cublaslt::workspace_bytes(m) + 1), "workspace of a matrix product");
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin), "cudaEventCreate");
    check(cudaEventCreate(&end), "cudaEventCreate");
    for (int i = 0; i < kTimes; ++i) {
      check(cudaEventRecord(begin, stream), "cudaEventRecord");
      vendor::cublaslt::run(m, l);
      check(cudaEventRecord(end, stream), "cudaEventRecord");
      check(cudaEventSynchronize(end), "matrix product");
      float ms = 0;
      check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
      best = std::max(best, 2.0 * kSide * kSide * kSide / (1e-3 * static_cast<double>(ms)));
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    cudaFree(l.workspace);
  }
  for (const Tensor* t : {&m.x, &m.w, &m.y}) cudaFree(t->data);
  return best;
}
#else
double matrix_rate(cudaStream_t, DType) { return 0; }
#endif

}  // namespace assay::cuda
