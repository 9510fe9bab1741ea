// SPDX-License-Identifier: Apache-2.0
// A single value in a file, as text: each form in which NumPy, PyTorch and safetensors write numbers, booleans and words.
#include <fmt/format.h>

#include <cstring>

#include "validate/base/error.hpp"
#include "validate/files/formats.hpp"

namespace assay {

namespace {

// Forms that no tensor of an op has.
struct Form {
  std::string_view npz, safetensors;
  std::string (*text)(const std::byte*);
};

template <class T>
std::string whole(const std::byte* data) {
  T v{};
  std::memcpy(&v, data, sizeof v);
  return fmt::format("{}", v);
}
std::string boolean(const std::byte* data) { return *data == std::byte{0} ? "no" : "yes"; }

constexpr Form kForms[] = {{"|b1", "BOOL", boolean},
                           {"|i1", "I8", whole<std::int8_t>},
                           {"|u1", "U8", whole<std::uint8_t>},
                           {"<i2", "I16", whole<std::int16_t>},
                           {"", "U16", whole<std::uint16_t>},
                           {"<u4", "U32", whole<std::uint32_t>},
                           {"<u8", "U64", whole<std::uint64_t>}};

// Characters of one byte, or of four, without the zeros at their end.  What is not ASCII becomes '?'.
std::string words(std::span<const std::byte> data, std::size_t bytes_each) {
  std::string text;
  std::size_t end = 0;
  for (std::size_t at = 0; at + bytes_each <= data.size(); at += bytes_each) {
    std::uint32_t c = 0;
    std::memcpy(&c, data.data() + at, bytes_each);
    text += c > 0 && c < 0x80 ? static_cast<char>(c) : '?';
    if (c != 0) end = text.size();
  }
  return text.substr(0, end);
}

}  // namespace

bool is_text(const FileTensor& t) {
  return !t.known && t.dtype.size() > 1 && (t.dtype[1] == 'U' || t.dtype[1] == 'S') && (t.dtype[0] == '<' || t.dtype[0] == '|');
}

std::string value_text(const FileTensor& t) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : t.shape) elements = elements > 1 ? elements : elements * extent;
  if (elements != 1)
    throw BadInput(fmt::format("'{}' has the shape {}, and one value was expected", t.name, shape_text(t.shape)));
  if (is_text(t)) return words(t.data, t.dtype[1] == 'U' ? 4 : 1);
  if (t.dtype == "<u2")
    throw BadInput(
        fmt::format("'{}' is a uint16, which may be a whole number or the bits of a bf16; a float32 was expected", t.name));
  if (t.known == f32) return fmt::format("{}", detail::load<float>(t.data.data(), 0));  // as it was typed: 0.1
  if (t.known == i64) return whole<std::int64_t>(t.data.data());
  if (t.known) return fmt::format("{}", decode(*t.known, t.data.data(), 0));
  for (const Form& form : kForms)
    if (t.dtype == form.npz || t.dtype == form.safetensors) return form.text(t.data.data());
  throw BadInput(fmt::format("'{}' has the dtype {}, and a real number of up to 64 bits, a boolean or a text was expected",
                             t.name, t.dtype));
}

}  // namespace assay
