// SPDX-License-Identifier: Apache-2.0
// .safetensors: 8 bytes with the length of a header, the header, the elements.  The header is a JSON object: by name the dtype,
// the shape and the range of bytes of each tensor, and texts in __metadata__.  The ranges follow each other without gaps.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "validate/base/error.hpp"
#include "validate/base/input.hpp"
#include "validate/base/unique_keys.hpp"
#include "validate/files/formats.hpp"

namespace assay {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLength = 8, kMostHeader = std::size_t{1} << 24;
constexpr const char* kMetadata = "__metadata__";

struct FileDType {
  std::string_view name;
  int bytes;
  std::optional<DType> known{};
};
constexpr FileDType kFileDTypes[] = {{"F16", 2, f16}, {"BF16", 2, bf16},    {"F32", 4, f32},      {"F64", 8, f64},
                                     {"I32", 4, i32}, {"I64", 8, i64},      {"BOOL", 1},          {"U8", 1, u8},
                                     {"I8", 1, i8},   {"F8_E5M2", 1, e5m2}, {"F8_E4M3", 1, e4m3}, {"F8_E8M0", 1, e8m0},
                                     {"U16", 2},      {"I16", 2},           {"U32", 4},           {"U64", 8}};

const FileDType& file_dtype(const std::string& name, std::string_view text) {
  for (const FileDType& t : kFileDTypes)
    if (t.name == text) return t;
  Names names;
  for (const FileDType& t : kFileDTypes) names.push_back(t.name);
  throw BadInput(fmt::format("'{}': {}", name, unknown("dtype", text, names)));
}

// Parses the header.  Throws BadInput, also for a key that an object has twice, of which a parser alone would keep the last.
Json header_of(std::string_view text) {
  if (nests_too_deeply(text)) throw BadInput("the lists and objects of its header lie too deep in each other");
  try {
    Json header = Json::parse(text.begin(), text.end(), unique_keys<Json>("its header"));
    if (header.is_object()) return header;
  } catch (const Json::exception&) {
  }
  throw BadInput("its header is no JSON object");
}

std::int64_t count_in(const std::string& name, const char* key, const Json& value) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > static_cast<std::uint64_t>(kMostFileExtent))
    throw BadInput(fmt::format("'{}': {} holds {}, and whole numbers from 0 to 2^60 were expected", name, key,
                               value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 40)));
  return value.get<std::int64_t>();
}

// The numbers of a list that the tensor must have.
std::vector<std::int64_t> counts_in(const std::string& name, const Json& tensor, const char* key) {
  const auto at = tensor.find(key);
  if (at == tensor.end() || !at->is_array()) throw BadInput(fmt::format("'{}' has no list '{}'", name, key));
  std::vector<std::int64_t> counts;
  for (const Json& value : *at) counts.push_back(count_in(name, key, value));
  return counts;
}

FileTensor tensor_in(const std::string& name, const Json& j, std::span<const std::byte> data) {
  if (!j.is_object() || j.size() != 3 || !j.contains("dtype") || !j["dtype"].is_string())
    throw BadInput(fmt::format("'{}' is not told by a dtype, a shape and data_offsets", name));
  const FileDType& dtype = file_dtype(name, j["dtype"].get<std::string>());
  FileTensor t{.name = name, .dtype = std::string(dtype.name), .known = dtype.known, .shape = counts_in(name, j, "shape")};
  const std::vector<std::int64_t> range = counts_in(name, j, "data_offsets");
  const std::int64_t bytes = bytes_of(t.shape, dtype.bytes);
  if (range.size() != 2 || range[0] > range[1] || range[1] > static_cast<std::int64_t>(data.size()))
    throw BadInput(
        fmt::format("'{}': its data_offsets {} are no range of the {} bytes of elements", name, shape_text(range), data.size()));
  if (bytes != range[1] - range[0])
    throw BadInput(fmt::format("'{}' has {} bytes, and its shape {} in {} takes {}", name, range[1] - range[0],
                               shape_text(t.shape), dtype.name, bytes < 0 ? "more than 2^60" : fmt::format("{}", bytes)));
  t.data = data.subspan(static_cast<std::size_t>(range[0]), static_cast<std::size_t>(bytes));
  return t;
}

// Every byte of the elements belongs to one tensor.
void require_whole(const std::vector<FileTensor>& tensors, std::span<const std::byte> data) {
  std::vector<const FileTensor*> in_order;
  for (const FileTensor& t : tensors)
    if (!t.data.empty()) in_order.push_back(&t);
  std::sort(in_order.begin(), in_order.end(), [](auto* a, auto* b) { return a->data.data() < b->data.data(); });
  std::ptrdiff_t end = 0;
  for (const FileTensor* t : in_order) {
    const std::ptrdiff_t begin = t->data.data() - data.data();
    if (begin < end) throw BadInput(fmt::format("'{}' begins at byte {}, where another tensor lies", t->name, begin));
    if (begin > end) throw BadInput(fmt::format("bytes {} to {} of the elements belong to no tensor", end, begin));
    end = begin + static_cast<std::ptrdiff_t>(t->data.size());
  }
  if (static_cast<std::size_t>(end) != data.size())
    throw BadInput(fmt::format("bytes {} to {} of the elements belong to no tensor", end, data.size()));
}

}  // namespace

std::int64_t bytes_of(const std::vector<std::int64_t>& shape, std::int64_t element) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  for (const std::int64_t extent : shape)
    if (__builtin_mul_overflow(element, extent, &element) || element > kMostFileExtent) return -1;
  return element;
}

TensorFile safetensors_in(std::span<const std::byte> bytes) {
  std::uint64_t length = 0;
  if (bytes.size() < kLength)
    throw BadInput(
        fmt::format("it has {} bytes, and .safetensors begins with 8 that tell the length of its header", bytes.size()));
  std::memcpy(&length, bytes.data(), kLength);
  if (length > bytes.size() - kLength)
    throw BadInput(fmt::format("its header has {} bytes by its length, and {} follow", length, bytes.size() - kLength));
  if (length > kMostHeader) throw BadInput(fmt::format("its header has {} bytes, and at most {} are taken", length, kMostHeader));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + kLength, length);
  const std::span<const std::byte> data = bytes.subspan(kLength + length);
  TensorFile file;
  const Json header = header_of(text);
  for (const auto& [name, value] : header.items()) {
    if (name != kMetadata) {
      file.tensors.push_back(tensor_in(name, value, data));
      continue;
    }
    if (!value.is_object()) throw BadInput("its __metadata__ is no object");
    for (const auto& [key, of] : value.items()) {
      if (!of.is_string()) throw BadInput(fmt::format("'{}' of its __metadata__ is no text", key));
      file.metadata[key] = of.get<std::string>();
    }
  }
  require_whole(file.tensors, data);
  return file;
}

void safetensors_pieces(const TensorFile& file, std::deque<std::string>& own, std::vector<std::string_view>& pieces) {
  Json header = Json::object();
  if (!file.metadata.empty()) header[kMetadata] = file.metadata;
  // Note: elements of the largest size come first, so that all are aligned, as some readers want them.
  std::vector<const FileTensor*> in_order;
  for (const FileTensor& t : file.tensors) in_order.push_back(&t);
  std::stable_sort(in_order.begin(), in_order.end(), [](auto* a, auto* b) { return size_of(*a->known) > size_of(*b->known); });
  std::size_t end = 0;
  for (const FileTensor* t : in_order) {
    const auto* dtype =
        std::find_if(std::begin(kFileDTypes), std::end(kFileDTypes), [&](auto& d) { return d.known == t->known; });
    header[t->name] = {{"dtype", dtype->name}, {"shape", t->shape}, {"data_offsets", {end, end + t->data.size()}}};
    end += t->data.size();
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.resize((text.size() + kLength - 1) / kLength * kLength, ' ');
  const std::uint64_t length = text.size();
  own.push_back(std::string(reinterpret_cast<const char*>(&length), kLength) + text);
  pieces.emplace_back(own.back());
  for (const FileTensor* t : in_order) pieces.emplace_back(reinterpret_cast<const char*>(t->data.data()), t->data.size());
}

}  // namespace assay
