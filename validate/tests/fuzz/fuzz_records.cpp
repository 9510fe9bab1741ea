// SPDX-License-Identifier: Apache-2.0
// Any text as a record file, as `run --same-as` reads one.
#include <sstream>
#include <string>

#include "validate/records/record.hpp"
#include "validate/tests/fuzz/fuzz.hpp"

using namespace assay;
using namespace assay::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  accepted([&] {
    std::istringstream in(text);
    require(!outcomes_in(in, "run.jsonl").empty(), "a file that is taken has cases");
  });
  return 0;
}
