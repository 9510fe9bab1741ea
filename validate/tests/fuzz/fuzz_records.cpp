// SPDX-License-Identifier: Apache-2.0
// Any text as a record file, as `run --same-as`, `report` and `compare` read one.
#include <string>
#include <string_view>

#include "validate/records/record_file.hpp"
#include "validate/tests/fuzz/fuzz.hpp"

using namespace assay;
using namespace assay::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const RecordFile f = records_in(text, "run.jsonl");
    require(!f.lines.empty(), "a file that is taken has lines");
  } catch (const BadInput& e) {
    require(std::string_view(e.what()).find("json.exception") == std::string_view::npos,
            "what is refused is refused in our words");
  }
  return 0;
}
