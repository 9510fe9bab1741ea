// SPDX-License-Identifier: Apache-2.0
// PTX on a GPU: the driver compiles a module and launches its entries.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "validate/backends/launch_file.hpp"

namespace assay::cuda {

struct EntryLaunch {
  unsigned grid[3], block[3], dynamic_shared;
  void* stream;
  bool dependent = false;  // on the launch before it, by programmatic stream serialization
};

// Writes the 128 bytes of a tensor map.  Throws std::runtime_error if the driver refuses it.
void encode_map(const MappedTensor& tensor, std::byte* map);

class PtxModule {
 public:
  // Compiles the text for device 0.  Throws std::runtime_error with the words of the driver's compiler.
  explicit PtxModule(const std::string& text);
  ~PtxModule();
  PtxModule(const PtxModule&) = delete;
  PtxModule& operator=(const PtxModule&) = delete;
  // `parameters`: where the bytes of each parameter lie.  Throws std::runtime_error if the driver refuses the launch.
  void launch(const std::string& entry, const EntryLaunch& shape, std::span<void*> parameters);

 private:
  struct Driver;
  std::unique_ptr<Driver> driver_;
};

}  // namespace assay::cuda
