// SPDX-License-Identifier: Apache-2.0
#include "onnx_tensor.hpp"

#include "catch_shim.hpp"

namespace assay::test {

TEST_CASE("onnx: tensors as the wire has them", "[onnx]") {
  using namespace std::string_literals;
  using onnx::parse_model, onnx::parse_tensor;
  // dims 2 and 1, type f32, name "w", raw_data 1.0f and -2.0f.
  const std::string dims = "\x08\x02\x08\x01"s, type = "\x10\x01"s, name = "\x42\x01w"s;
  const std::string raw = "\x4a\x08\x00\x00\x80\x3f\x00\x00\x00\xc0"s;
  const onnx::NamedTensor t = parse_tensor(dims + type + name + raw);
  CHECK(t.shape == std::vector<std::int64_t>{2, 1});
  CHECK((t.dtype == f32 && t.name == "w" && t.values == std::vector<double>{1, -2}));
  CHECK(parse_tensor("\x0a\x02\x02\x01"s + type + raw).shape == t.shape);                            // packed dims
  CHECK(parse_tensor(dims + type + "\x22" + raw.substr(1)).values == t.values);                      // float_data
  CHECK(parse_tensor("\x10\x0b\x4a\x08\x00\x00\x00\x00\x00\x00\xf0\x3f"s).values[0] == 1);           // a scalar in f64
  CHECK(parse_tensor("\x08\x01\x10\x07\x4a\x08\xff\xff\xff\xff\xff\xff\xff\xff"s).values[0] == -1);  // i64
  const std::string whole = dims + type + raw;
  for (std::size_t n = 0; n < whole.size(); ++n) CHECK_THROWS(parse_tensor(whole.substr(0, n)));
  CHECK_THROWS(parse_tensor("\x08\x03"s + type + raw));                                      // three elements in eight bytes
  CHECK_THROWS(parse_tensor("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s + type + raw));  // less than none
  CHECK_THROWS(parse_tensor(dims + "\x10\x08"s + raw));                                      // strings
  CHECK_THROWS(parse_tensor(dims + type + raw + "\x72\x00"s));                               // data elsewhere
  // A graph with a node "Add" and that tensor.
  const std::string tensor = dims + type + name + raw, graph =
                                                           "\x0a\x05\x22\x03"
                                                           "Add\x2a"s +
                                                           char(tensor.size()) + tensor;
  const onnx::Model m = parse_model("\x08\x07\x3a"s + char(graph.size()) + graph);
  CHECK((m.nodes == std::vector<std::string>{"Add"} && m.initializers.size() == 1 && m.initializers[0].values == t.values));
}

}  // namespace assay::test
