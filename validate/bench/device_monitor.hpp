// SPDX-License-Identifier: Apache-2.0
// Samples clocks, power, temperature and throttle reasons of a GPU during a timing, through NVML, which is opened at run time.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "validate/records/record_file.hpp"

namespace assay {

class DeviceMonitor {
 public:
  explicit DeviceMonitor(const std::string& bus_id);  // without NVML or that device, missing() says so
  ~DeviceMonitor();
  DeviceMonitor(const DeviceMonitor&) = delete;
  DeviceMonitor& operator=(const DeviceMonitor&) = delete;

  const std::string& missing() const { return missing_; }  // why it cannot sample; empty: it can
  const std::string& driver() const { return driver_; }
  void start();                        // samples every 10 ms until stop()
  std::optional<MachineState> stop();  // the extremes since start(); none if nothing was sampled

 private:
  void look();
  std::string missing_, driver_;
  void *library_ = nullptr, *device_ = nullptr;
  std::thread thread_;
  std::atomic<bool> running_{false};
  MachineState seen_;
  unsigned long long reasons_ = 0;
  int looks_ = 0;
};

// The throttle reasons in the bits of nvmlDeviceGetCurrentClocksEventReasons, without idling and clocks that were set on purpose.
std::vector<std::string> throttle_reasons(unsigned long long bits);

}  // namespace assay
