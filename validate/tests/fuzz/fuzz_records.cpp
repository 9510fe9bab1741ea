// SPDX-License-Identifier: Apache-2.0
// Any text as a record file, as `run --same-as` reads one, and as the reply of a worker, which a candidate may have forged.
#include <sstream>
#include <string>

#include "validate/records/record.hpp"
#include "validate/tests/fuzz/fuzz.hpp"
#include "validate/worker/protocol.hpp"

using namespace assay;
using namespace assay::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  accepted([&] {
    std::istringstream in(text);
    require(!outcomes_in(in, "run.jsonl").empty(), "a file that is taken has cases");
  });
  try {
    const Reply reply = reply_from(text);
    const std::string sent = to_text(reply);
    require(to_text(reply_from(sent)) == sent, "a reply arrives as it was sent");
    Record r;
    r.c.op = "op", r.kernel = "kernel", r.reason = reply.message, r.seconds = reply.seconds, r.traffic = reply.traffic;
    r.repro = "op/kernel f32 rows=1 seed=0";
    const std::string line = to_json(r);
    require(line.find('\n') == line.npos, "a record is one line");
    std::istringstream in(line);
    require(outcomes_in(in, "run.jsonl").contains(r.repro), "and it is read again");
  } catch (const BadInput&) {
    std::abort();
  } catch (const std::exception&) {  // what the judge takes for a dead worker
  }
  return 0;
}
