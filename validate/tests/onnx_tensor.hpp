// SPDX-License-Identifier: Apache-2.0
// Reads the fields of ONNX files that captured tensors need (onnx.proto of ONNX 1.12, Protocol Buffers' wire format): a
// TensorProto with its values; of a ModelProto the node types and the initializers.  Throws std::runtime_error for anything else.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "ops/core/dtype.hpp"

namespace assay::test::onnx {

struct NamedTensor {
  std::string name{};
  DType dtype{};
  std::vector<std::int64_t> shape{};
  std::vector<double> values{};  // row-major
};

struct Model {
  std::vector<std::string> nodes{};  // op_type of each node, in order
  std::vector<NamedTensor> initializers{};
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  bool more() const { return !rest_.empty(); }
  std::uint64_t varint() {
    std::uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      v |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return v;
    }
    throw std::runtime_error("a number has more than ten bytes");
  }
  std::string_view take(std::uint64_t n) {
    if (n > rest_.size()) throw std::runtime_error("cut short");
    const std::string_view taken = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return taken;
  }

 private:
  std::string_view rest_;
};

// Calls visit(field, number, bytes) for each field of a message: `number` for an integer field, `bytes` for all others.
inline void each_field(std::string_view message,
                       const std::function<void(std::uint64_t, std::uint64_t, std::string_view)>& visit) {
  for (Reader in(message); in.more();) {
    const std::uint64_t tag = in.varint();
    switch (tag & 7) {
      case 0: visit(tag >> 3, in.varint(), {}); break;
      case 1: visit(tag >> 3, 0, in.take(8)); break;
      case 2: visit(tag >> 3, 0, in.take(in.varint())); break;
      case 5: visit(tag >> 3, 0, in.take(4)); break;
      default: throw std::runtime_error("an unknown kind of field");
    }
  }
}

inline NamedTensor parse_tensor(std::string_view message) {
  NamedTensor t;
  std::uint64_t type = 0;
  std::string_view raw;
  each_field(message, [&](std::uint64_t field, std::uint64_t number, std::string_view bytes) {
    if (field == 1 && bytes.empty()) t.shape.push_back(static_cast<std::int64_t>(number));
    else if (field == 1)
      for (Reader in(bytes); in.more();) t.shape.push_back(static_cast<std::int64_t>(in.varint()));
    else if (field == 2) type = number;
    else if (field == 8) t.name = bytes;
    else if (field == 9 || field == 4) raw = bytes;  // raw_data; float_data, whose packed bytes are the same
    else throw std::runtime_error("a tensor has field " + std::to_string(field) + ", which this reader does not know");
  });
  switch (type) {
    case 1: t.dtype = f32; break;
    case 6: t.dtype = i32; break;
    case 7: t.dtype = i64; break;
    case 11: t.dtype = f64; break;
    default: throw std::runtime_error("a tensor has type " + std::to_string(type) + ", which this reader does not know");
  }
  std::uint64_t n = 1;
  for (const std::int64_t extent : t.shape) {
    if (extent < 0) throw std::runtime_error("shape and bytes disagree");
    n *= static_cast<std::uint64_t>(extent);
    if (n > raw.size()) throw std::runtime_error("shape and bytes disagree");
  }
  if (raw.size() != n * static_cast<std::uint64_t>(size_of(t.dtype))) throw std::runtime_error("shape and bytes disagree");
  for (std::uint64_t i = 0; i < n; ++i) t.values.push_back(decode(t.dtype, raw.data(), static_cast<std::int64_t>(i)));
  return t;
}

inline Model parse_model(std::string_view message) {
  Model m;
  each_field(message, [&](std::uint64_t field, std::uint64_t, std::string_view graph) {
    if (field != 7) return;
    each_field(graph, [&](std::uint64_t part, std::uint64_t, std::string_view bytes) {
      if (part == 5) m.initializers.push_back(parse_tensor(bytes));
      if (part != 1) return;
      each_field(bytes, [&](std::uint64_t of_node, std::uint64_t, std::string_view kind) {
        if (of_node == 4) m.nodes.emplace_back(kind);
      });
    });
  });
  return m;
}

}  // namespace assay::test::onnx
