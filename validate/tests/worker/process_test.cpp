// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "catch_shim.hpp"
#include "validate/base/machine.hpp"

using namespace assay;

TEST_CASE("the system says how many processes it has killed for want of memory", "[process]") {
  const std::filesystem::path proc = std::filesystem::temp_directory_path() / ("assay_proc_" + std::to_string(::getpid()));
  std::filesystem::create_directory(proc);
  CHECK(killed_for_memory(proc) == 0);  // it does not say
  std::ofstream(proc / "vmstat") << "pgfault 12\noom_kill 7\nzone_reclaim 3\n";
  CHECK(killed_for_memory(proc) == 7);
  std::filesystem::remove_all(proc);
}
