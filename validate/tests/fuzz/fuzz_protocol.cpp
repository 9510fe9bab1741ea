// SPDX-License-Identifier: Apache-2.0
// Any text as an order, a reply, a question, an answer or numerics, which a candidate may have forged.
#include <string>

#include "validate/problem/numerics/numerics_text.hpp"
#include "validate/records/record.hpp"
#include "validate/records/text_file.hpp"
#include "validate/tests/fuzz/fuzz.hpp"
#include "validate/worker/listing.hpp"
#include "validate/worker/protocol.hpp"

using namespace assay;
using namespace assay::fuzz;

namespace {

void as_reply(const std::string& text) {
  const Reply reply = reply_from(text);
  const std::string sent = to_text(reply);
  require(to_text(reply_from(sent)) == sent, "a reply arrives as it was sent");
  Record r;
  r.c.op = "op";
  r.kernel = "kernel";
  r.reason = reply.message;
  r.seconds = reply.seconds;
  r.traffic = reply.traffic;
  r.repro = "op/kernel f32 rows=1 seed=0";
  const std::string line = to_json(r);
  require(line.find('\n') == line.npos, "a record is one line");
  require(to_json(record_of(RecordJson::parse(line), r.c)) == line, "and it is read again");
}

void as_order(const std::string& text) {
  const Order order = order_from(text);
  for (const OrderTensor& t : order.tensors) {
    if (t.input) require(*t.input + t.place.bytes <= order.input_bytes, "an input lies in its memory");
    if (t.output) require(*t.output + t.place.bytes <= order.output_bytes, "an output lies in its memory");
    const Tensor& tensor = t.place.tensor;
    if (tensor.size() == 0) continue;
    const std::int64_t end = (tensor.offset(tensor.size() - 1) + 1) * size_of(tensor.dtype);
    require(end >= 0 && static_cast<std::size_t>(end) <= t.place.bytes, "the last element lies in the image");
  }
  const std::string sent = to_text(order);
  require(to_text(order_from(sent)) == sent, "an order arrives as it was sent");
}

void as_question(const std::string& text) {
  if (!is_question(text)) return;
  require(answer(text, {}).size() < 65'536, "an answer fits in a packet");
}

void as_answer(const std::string& text) {
  const Listing list = listing_from(text, 1);
  require(list.refused.empty() || list.kernels.empty(), "a refusal lists nothing");
  for (const ListedKernel& k : list.kernels) {
    const std::string sent =
        answer(question(1, 0), {.refused = {}, .backend = "host", .device = {}, .checks = {}, .kernels = {k}});
    require(listing_from(sent, 1).total == 1, "a kernel arrives as it was sent");
  }
}

void as_numerics(const std::string& text) {
  try {
    const std::string written = text_of(numerics_from(text));
    require(text_of(numerics_from(written)) == written, "numerics are read as they are written");
  } catch (const BadInput&) {
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const auto read : {as_reply, as_order, as_question, as_answer, as_numerics}) try {
      read(text);
    } catch (const BadInput&) {
      std::abort();
    } catch (const std::exception&) {  // what the other end takes for no message
    }
  return 0;
}
