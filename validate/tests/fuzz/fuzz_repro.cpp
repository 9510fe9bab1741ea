// SPDX-License-Identifier: Apache-2.0
// Any text as a repro line.  What is taken says the same when it is written and read again.
#include <algorithm>
#include <string>

#include "validate/cases/case.hpp"
#include "validate/tests/fuzz/fuzz.hpp"
#include "validate/tests/test_ops.hpp"

using namespace assay;
using namespace assay::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  accepted([&] {
    const Repro first = parse_repro(text, test::ops());
    const auto op =
        std::find_if(test::ops().begin(), test::ops().end(), [&](const OpShape& o) { return o.name == first.what.op; });
    const std::string line = repro(first.what, *op, first.kernel);
    const Repro again = parse_repro(line, test::ops());
    require(repro(again.what, *op, again.kernel) == line, "a line that was written is read as it was meant");
    require(again.what.dims == first.what.dims && again.what.seed == first.what.seed, "extents and seed are kept");
    require(elements(first.what, *op) <= kMostElements, "no more elements than may be");
    require(line.find(summary(first.what, *op)) != line.npos, "the summary is a part of the line");
  });
  return 0;
}
