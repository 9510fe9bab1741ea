// SPDX-License-Identifier: Apache-2.0
#include "validate/bench/device_monitor.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace assay {

namespace {

constexpr int kClockSm = 1, kClockMemory = 2, kTemperatureGpu = 0;  // nvml.h: nvmlClockType_t, nvmlTemperatureSensors_t

template <class... A>
bool call(void* library, const char* symbol, A... arguments) {
  using F = int (*)(A...);  // 0 is NVML_SUCCESS
  const F f = library ? reinterpret_cast<F>(::dlsym(library, symbol)) : nullptr;
  return f && f(arguments...) == 0;
}

void widen(double value, std::optional<double>& least, std::optional<double>& most) {
  least = std::min(value, least.value_or(value));
  most = std::max(value, most.value_or(value));
}

}  // namespace

std::vector<std::string> throttle_reasons(unsigned long long bits) {
  // nvml.h: nvmlClocksEventReason*.  Left out: 0x1 idle GPU, 0x2 clocks set by applications, 0x10 SyncBoost, 0x100 display
  // clocks.
  constexpr std::pair<unsigned long long, const char*> kReasons[] = {{0x4, "software power cap"},
                                                                     {0x8, "hardware slowdown"},
                                                                     {0x20, "software thermal slowdown"},
                                                                     {0x40, "hardware thermal slowdown"},
                                                                     {0x80, "hardware power brake"}};
  std::vector<std::string> found;
  for (const auto& [bit, name] : kReasons)
    if (bits & bit) found.emplace_back(name);
  return found;
}

DeviceMonitor::DeviceMonitor(const std::string& bus_id) {
  library_ = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  char version[96] = "";
  if (!library_) missing_ = "NVML is missing: libnvidia-ml.so.1 cannot be opened";
  else if (!call(library_, "nvmlInit_v2")) missing_ = "NVML does not start";
  else if (!call(library_, "nvmlDeviceGetHandleByPciBusId_v2", bus_id.c_str(), &device_))
    missing_ = fmt::format("NVML knows no device {}", bus_id);
  else if (call(library_, "nvmlSystemGetDriverVersion", static_cast<char*>(version), 96u)) driver_ = version;
}

DeviceMonitor::~DeviceMonitor() {
  running_ = false;
  if (thread_.joinable()) thread_.join();
}

void DeviceMonitor::look() {
  unsigned sm = 0, memory = 0, milliwatt = 0, celsius = 0;
  unsigned long long reasons = 0;
  const bool clock = call(library_, "nvmlDeviceGetClockInfo", device_, kClockSm, &sm);
  if (call(library_, "nvmlDeviceGetClockInfo", device_, kClockMemory, &memory)) seen_.memory_mhz = memory;
  if (call(library_, "nvmlDeviceGetPowerUsage", device_, &milliwatt))
    seen_.power_w_max = std::max(seen_.power_w_max.value_or(0), 1e-3 * milliwatt);
  if (call(library_, "nvmlDeviceGetTemperature", device_, kTemperatureGpu, &celsius))
    seen_.temperature_c_max = std::max<double>(seen_.temperature_c_max.value_or(0), celsius);
  if (call(library_, "nvmlDeviceGetCurrentClocksEventReasons", device_, &reasons) ||
      call(library_, "nvmlDeviceGetCurrentClocksThrottleReasons", device_, &reasons))
    reasons_ |= reasons;
  if (clock) {
    widen(sm, seen_.sm_mhz_min, seen_.sm_mhz_max);
    ++looks_;
  }
}

void DeviceMonitor::start() {
  if (!missing_.empty() || thread_.joinable()) return;
  seen_ = {};
  reasons_ = 0;
  looks_ = 0;
  running_ = true;
  thread_ = std::thread([this] {
    while (running_) {
      look();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
}

std::optional<MachineState> DeviceMonitor::stop() {
  if (!thread_.joinable()) return std::nullopt;
  running_ = false;
  thread_.join();
  if (looks_ == 0) return std::nullopt;
  seen_.throttle = throttle_reasons(reasons_);
  return seen_;
}

}  // namespace assay
