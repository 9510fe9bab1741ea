// SPDX-License-Identifier: Apache-2.0
// Counts bytes of device memory by hardware counters: CUPTI's range profiler around launches of this process.
#include "validate/backends/cuda_counters.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "validate/backends/cuda_clock.hpp"
#include "validate/backends/device_figures.hpp"

#if defined(ASSAY_CUPTI)
#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include "validate/backends/cuda_cupti.hpp"
#endif

namespace assay::cuda {

#if defined(ASSAY_CUPTI)

namespace {

struct Cupti {
  ASSAY_FUNCTION(cuptiProfilerInitialize);
  ASSAY_FUNCTION(cuptiProfilerDeviceSupported);
  ASSAY_FUNCTION(cuptiProfilerGetCounterAvailability);
  ASSAY_FUNCTION(cuptiDeviceGetChipName);
  ASSAY_FUNCTION(cuptiProfilerHostInitialize);
  ASSAY_FUNCTION(cuptiProfilerHostDeinitialize);
  ASSAY_FUNCTION(cuptiProfilerHostConfigAddMetrics);
  ASSAY_FUNCTION(cuptiProfilerHostGetConfigImageSize);
  ASSAY_FUNCTION(cuptiProfilerHostGetConfigImage);
  ASSAY_FUNCTION(cuptiProfilerHostGetNumOfPasses);
  ASSAY_FUNCTION(cuptiProfilerHostEvaluateToGpuValues);
  ASSAY_FUNCTION(cuptiRangeProfilerEnable);
  ASSAY_FUNCTION(cuptiRangeProfilerDisable);
  ASSAY_FUNCTION(cuptiRangeProfilerGetCounterDataSize);
  ASSAY_FUNCTION(cuptiRangeProfilerCounterDataImageInitialize);
  ASSAY_FUNCTION(cuptiRangeProfilerSetConfig);
  ASSAY_FUNCTION(cuptiRangeProfilerStart);
  ASSAY_FUNCTION(cuptiRangeProfilerStop);
  ASSAY_FUNCTION(cuptiRangeProfilerPushRange);
  ASSAY_FUNCTION(cuptiRangeProfilerPopRange);
  ASSAY_FUNCTION(cuptiRangeProfilerDecodeData);
  ASSAY_FUNCTION(cuptiRangeProfilerGetCounterDataInfo);
  ASSAY_FUNCTION(cuptiRangeProfilerCounterDataGetRangeInfo);
};
// Declares the parameters of a call.  CUPTI learns their version from their size.
#define ASSAY_PARAMETERS(type, name) \
  type name{};                       \
  name.structSize = type##_STRUCT_SIZE

const Cupti& api() {
  static const Cupti functions;
  return functions;
}

CUcontext current_context() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check(cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &function, 12000, cudaEnableDefault, &found), "cuCtxGetCurrent");
  CUcontext context = nullptr;
  if (!function || reinterpret_cast<decltype(&::cuCtxGetCurrent)>(function)(&context) != CUDA_SUCCESS || !context)
    throw std::runtime_error("there is no CUDA context to count in");
  return context;
}

const char* kMetrics[] = {"dram__bytes_read.sum", "dram__bytes_write.sum"};
constexpr std::size_t kMetricCount = std::size(kMetrics);

void require_support(CUdevice device) {
  ASSAY_PARAMETERS(CUpti_Profiler_DeviceSupported_Params, p);
  p.cuDevice = device;
  p.api = CUPTI_PROFILER_RANGE_PROFILING;
  check(api().cuptiProfilerDeviceSupported(&p), "asking whether the device has counters");
  if (p.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED) return;
  const auto no = [](CUpti_Profiler_Support_Level level) { return level != CUPTI_PROFILER_CONFIGURATION_SUPPORTED; };
  throw std::runtime_error(fmt::format("this device's counters cannot be read{}", no(p.architecture) ? ": it is too old"
                                                                                  : no(p.vGpu)       ? ": it is a virtual GPU"
                                                                                  : no(p.confidentialCompute)
                                                                                      ? ": confidential computing is on"
                                                                                  : no(p.wsl) ? " under WSL"
                                                                                              : ""));
}

// The configuration of what to count on this chip (CUPTI's host API).
class Plan {
 public:
  explicit Plan(CUcontext context) {
    ASSAY_PARAMETERS(CUpti_Profiler_Initialize_Params, start);
    check(api().cuptiProfilerInitialize(&start), "start");
    require_support(0);
    ASSAY_PARAMETERS(CUpti_Device_GetChipName_Params, chip);
    check(api().cuptiDeviceGetChipName(&chip), "the chip's name");
    // Which of the chip's counters are available.  Note: this must not be asked while a profiler is on.
    ASSAY_PARAMETERS(CUpti_Profiler_GetCounterAvailability_Params, there);
    there.ctx = context;
    check(api().cuptiProfilerGetCounterAvailability(&there), "which counters there are");
    std::vector<std::uint8_t> available(there.counterAvailabilityImageSize);
    there.pCounterAvailabilityImage = available.data();
    check(api().cuptiProfilerGetCounterAvailability(&there), "which counters there are");

    ASSAY_PARAMETERS(CUpti_Profiler_Host_Initialize_Params, host);
    host.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    host.pChipName = chip.pChipName;
    host.pCounterAvailabilityImage = available.data();
    check(api().cuptiProfilerHostInitialize(&host), "its host side");
    host_ = host.pHostObject;
    try {
      configure();
    } catch (...) {
      end();
      throw;
    }
  }
  ~Plan() { end(); }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  const std::vector<std::uint8_t>& image() const { return image_; }
  DramBytes evaluated(const std::vector<std::uint8_t>& counted, std::size_t range) const {
    double values[kMetricCount] = {};
    ASSAY_PARAMETERS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, p);
    p.pHostObject = host_;
    p.pCounterDataImage = counted.data();
    p.counterDataImageSize = counted.size();
    p.rangeIndex = range;
    p.ppMetricNames = kMetrics;
    p.numMetrics = kMetricCount;
    p.pMetricValues = values;
    check(api().cuptiProfilerHostEvaluateToGpuValues(&p), "evaluating");
    return {values[0], values[1]};
  }

 private:
  void configure() {
    ASSAY_PARAMETERS(CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
    add.pHostObject = host_;
    add.ppMetricNames = kMetrics;
    add.numMetrics = kMetricCount;
    check(api().cuptiProfilerHostConfigAddMetrics(&add), "metrics of device memory");
    ASSAY_PARAMETERS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
    size.pHostObject = host_;
    check(api().cuptiProfilerHostGetConfigImageSize(&size), "the configuration's size");
    image_.resize(size.configImageSize);
    ASSAY_PARAMETERS(CUpti_Profiler_Host_GetConfigImage_Params, get);
    get.pHostObject = host_;
    get.configImageSize = image_.size();
    get.pConfigImage = image_.data();
    check(api().cuptiProfilerHostGetConfigImage(&get), "the configuration");
    ASSAY_PARAMETERS(CUpti_Profiler_Host_GetNumOfPasses_Params, passes);
    passes.configImageSize = image_.size();
    passes.pConfigImage = image_.data();
    check(api().cuptiProfilerHostGetNumOfPasses(&passes), "the number of passes");
    if (passes.numOfPasses != 1)
      throw std::runtime_error(fmt::format("this device counts them in {} passes, not in one", passes.numOfPasses));
  }
  void end() {
    ASSAY_PARAMETERS(CUpti_Profiler_Host_Deinitialize_Params, p);
    p.pHostObject = host_;
    api().cuptiProfilerHostDeinitialize(&p);
  }
  CUpti_Profiler_Host_Object* host_ = nullptr;
  std::vector<std::uint8_t> image_;
};

// The counters, enabled for `ranges` ranges of work until the end of this object.
class Counters {
 public:
  explicit Counters(std::size_t ranges) : context_(current_context()), plan_(context_) {
    ASSAY_PARAMETERS(CUpti_RangeProfiler_Enable_Params, p);
    p.ctx = context_;
    check(api().cuptiRangeProfilerEnable(&p), "switching the profiler on");
    profiler_ = p.pRangeProfilerObject;
    try {
      configure(ranges);
    } catch (...) {
      end();
      throw;
    }
  }
  ~Counters() { end(); }
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;

  // Counts while `work` runs to its end.  The calls make ranges 0, 1, ...
  template <class F>
  void count(const F& work) {
    const std::string name = fmt::format("range{}", next_++);
    ASSAY_PARAMETERS(CUpti_RangeProfiler_PushRange_Params, push);
    push.pRangeProfilerObject = profiler_;
    push.pRangeName = name.c_str();
    check(api().cuptiRangeProfilerPushRange(&push), "the beginning of a range");
    work();
    check(cudaDeviceSynchronize(), "counting");
    ASSAY_PARAMETERS(CUpti_RangeProfiler_PopRange_Params, pop);
    pop.pRangeProfilerObject = profiler_;
    check(api().cuptiRangeProfilerPopRange(&pop), "the end of a range");
  }

  // Stops counting and returns the bytes of each range.
  std::vector<DramBytes> all() {
    ASSAY_PARAMETERS(CUpti_RangeProfiler_Stop_Params, stop);
    stop.pRangeProfilerObject = profiler_;
    check(api().cuptiRangeProfilerStop(&stop), "stop");
    if (!stop.isAllPassSubmitted) throw std::runtime_error("CUPTI asks for another pass, where it had promised one");
    ASSAY_PARAMETERS(CUpti_RangeProfiler_DecodeData_Params, decode);
    decode.pRangeProfilerObject = profiler_;
    check(api().cuptiRangeProfilerDecodeData(&decode), "decoding");
    ASSAY_PARAMETERS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
    info.pCounterDataImage = counted_.data();
    info.counterDataImageSize = counted_.size();
    check(api().cuptiRangeProfilerGetCounterDataInfo(&info), "the ranges counted");
    if (decode.numOfRangeDropped || info.numTotalRanges != next_)
      throw std::runtime_error(fmt::format("CUPTI counted {} of {} ranges", info.numTotalRanges, next_));
    std::vector<DramBytes> bytes(next_);
    for (std::size_t i = 0; i < next_; ++i) bytes.at(number_of(i)) = plan_.evaluated(counted_, i);
    return bytes;
  }

 private:
  void configure(std::size_t ranges) {
    ASSAY_PARAMETERS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
    size.pRangeProfilerObject = profiler_;
    size.pMetricNames = kMetrics;
    size.numMetrics = kMetricCount;
    size.maxNumOfRanges = ranges;
    size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(ranges);
    check(api().cuptiRangeProfilerGetCounterDataSize(&size), "the size of what is counted");
    counted_.resize(size.counterDataSize);
    ASSAY_PARAMETERS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, image);
    image.pRangeProfilerObject = profiler_;
    image.counterDataSize = counted_.size();
    image.pCounterData = counted_.data();
    check(api().cuptiRangeProfilerCounterDataImageInitialize(&image), "room for what is counted");
    ASSAY_PARAMETERS(CUpti_RangeProfiler_SetConfig_Params, set);
    set.pRangeProfilerObject = profiler_;
    set.configSize = plan_.image().size();
    set.pConfig = plan_.image().data();
    set.counterDataImageSize = counted_.size();
    set.pCounterDataImage = counted_.data();
    set.range = CUPTI_UserRange;
    set.replayMode = CUPTI_UserReplay;
    set.maxRangesPerPass = ranges;
    set.numNestingLevels = 1;
    set.minNestingLevel = 1;
    set.passIndex = 0;
    set.targetNestingLevel = 1;
    check(api().cuptiRangeProfilerSetConfig(&set), "the configuration");
    ASSAY_PARAMETERS(CUpti_RangeProfiler_Start_Params, start);
    start.pRangeProfilerObject = profiler_;
    check(api().cuptiRangeProfilerStart(&start), "starting to count");
  }
  // Our number of CUPTI's range `i`, since CUPTI has an order of its own.
  std::size_t number_of(std::size_t i) const {
    ASSAY_PARAMETERS(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, p);
    p.pCounterDataImage = counted_.data();
    p.counterDataImageSize = counted_.size();
    p.rangeIndex = i;
    p.rangeDelimiter = "/";
    check(api().cuptiRangeProfilerCounterDataGetRangeInfo(&p), "the name of a range");
    const std::string name = p.rangeName ? p.rangeName : "";
    if (!name.starts_with("range"))
      throw std::runtime_error(fmt::format("CUPTI counted a range '{}' that is none of ours", name));
    return std::stoul(name.substr(5));
  }
  void end() {
    ASSAY_PARAMETERS(CUpti_RangeProfiler_Disable_Params, p);
    p.pRangeProfilerObject = profiler_;
    api().cuptiRangeProfilerDisable(&p);
  }
  CUcontext context_;
  Plan plan_;
  CUpti_RangeProfiler_Object* profiler_ = nullptr;
  std::vector<std::uint8_t> counted_;
  std::size_t next_ = 0;
};

// Flushes the L2 cache by writing over memory, one half after the other, so that nothing written is still in the cache.
class Flush {
 public:
  explicit Flush(cudaStream_t stream) : stream_(stream) {
    check(cudaMalloc(&memory_, 2 * kBytes), "memory to flush the L2 cache with");
  }
  ~Flush() { cudaFree(memory_); }
  Flush(const Flush&) = delete;
  Flush& operator=(const Flush&) = delete;
  void operator()() {
    ++turn_;
    check(cudaMemsetAsync(static_cast<char*>(memory_) + turn_ % 2 * kBytes, static_cast<int>(turn_ & 0xff), kBytes, stream_),
          "flushing the L2 cache");
  }

 private:
  static constexpr std::size_t kBytes = std::size_t{256} << 20;  // five times the L2 of an H200
  cudaStream_t stream_;
  void* memory_ = nullptr;
  std::size_t turn_ = 0;
};

}  // namespace

// Note: at a kernel's end its writes are still in the cache, and during its run earlier writes go to memory.  So a flush follows
// each launch inside the range, and one precedes the range: the cache is equally dirty at both ends, and all that the kernel
// wrote has left it.  A flush only writes, so the reads of the range are the kernel's.  The bytes of as many flushes alone are
// subtracted.
std::vector<DramBytes> dram_bytes(cudaStream_t stream, const std::vector<TimedLaunch>& kernels,
                                  const std::vector<double>& about_s) {
  constexpr int kFlushes = 16;
  Flush flush(stream);
  const auto launch = [&](const TimedLaunch& k, int round) {
    k.launcher(k.args[static_cast<std::size_t>(round) % k.args.size()], {.stream = stream, .workspace = k.workspace});
    flush();
  };
  for (const TimedLaunch& k : kernels) launch(k, 0);  // loads the kernel's code
  check(cudaDeviceSynchronize(), "before counting");
  Counters counters(kernels.size() + 1);
  flush();
  check(cudaDeviceSynchronize(), "before counting");
  counters.count([&] {
    for (int i = 0; i < kFlushes; ++i) flush();
  });
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    launch(kernels[k], 1);
    check(cudaDeviceSynchronize(), "before counting");
    counters.count([&] {
      for (int i = 0; i < dram_rounds(about_s[k]); ++i) launch(kernels[k], i);
    });
  }
  const std::vector<DramBytes> counted = counters.all();
  std::vector<DramBytes> bytes;
  for (std::size_t k = 0; k < kernels.size(); ++k)
    bytes.push_back(dram_of_launch(counted[k + 1], dram_rounds(about_s[k]), counted[0], kFlushes));
  return bytes;
}

#else

std::vector<DramBytes> dram_bytes(cudaStream_t, const std::vector<TimedLaunch>&, const std::vector<double>&) {
  throw std::runtime_error("this build has no CUPTI: cupti_range_profiler.h of CUDA 12.6 or later was not found");
}

#endif

DramBytes copy_dram_bytes(cudaStream_t stream, std::size_t bytes) {
  struct Copy : DeviceCopy {
    ~Copy() {
      cudaFree(from);
      cudaFree(to);
    }
  } copy{{.bytes = bytes}};
  for (void** p : {&copy.from, &copy.to}) {
    check(cudaMalloc(p, bytes), "memory for a copy");
    check(cudaMemsetAsync(*p, 0x5a, bytes, stream), "filling");
  }
  const DeviceCopy* const args = &copy;
  return dram_bytes(stream, {{.launcher = copy_within, .args = {args}, .workspace = nullptr}}, {1e-3}).at(0);
}

}  // namespace assay::cuda
