// SPDX-License-Identifier: Apache-2.0
// Clocks, power, temperature and throttle reasons of a GPU while something runs on it, by NVML, which is opened at run time.
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
  explicit DeviceMonitor(const std::string& bus_id);  // without the library, or without that device, it sees nothing
  ~DeviceMonitor();
  DeviceMonitor(const DeviceMonitor&) = delete;
  DeviceMonitor& operator=(const DeviceMonitor&) = delete;

  const std::string& missing() const { return missing_; }  // why nothing is seen; empty: it is
  const std::string& driver() const { return driver_; }
  void start();                        // looks every 10 ms until stop()
  std::optional<MachineState> stop();  // the extremes of it; none where nothing was seen

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

// The throttle reasons among the bits of nvmlDeviceGetCurrentClocksEventReasons: idling and clocks that were set on purpose are
// none.
std::vector<std::string> throttle_reasons(unsigned long long bits);

}  // namespace assay
