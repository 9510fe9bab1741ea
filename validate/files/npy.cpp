// SPDX-License-Identifier: Apache-2.0
// .npy, a member of an .npz: a magic text, a version, the length of a header, the header, the elements.  The header is a Python
// literal: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 65), }.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "validate/base/error.hpp"
#include "validate/files/formats.hpp"

namespace assay {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMostNpyHeader = 1 << 16, kMostAxes = 64;

struct Header {
  std::string descr;
  bool columns_first = false;
  std::vector<std::int64_t> shape;
};

// Reads the literal.
class Literal {
 public:
  explicit Literal(std::string_view text) : text_(text) {}

  Header read() {
    Header h;
    bool seen[3] = {};
    require('{');
    while (!take('}')) {
      const std::string key = quoted();
      require(':');
      const int k = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : 3;
      if (k == 3 || seen[k]) fail();
      seen[k] = true;
      if (k == 0) h.descr = quoted();
      else if (k == 1) h.columns_first = word() == "True";
      else h.shape = tuple();
      if (!take(',') && !ahead('}')) fail();
    }
    skip();
    if (!text_.empty() || !seen[0] || !seen[1] || !seen[2]) fail();
    return h;
  }

 private:
  [[noreturn]] static void fail() {
    throw BadInput("its header is not {'descr': TEXT, 'fortran_order': True or False, 'shape': (EXTENTS)}");
  }
  void skip() { text_.remove_prefix(std::min(text_.find_first_not_of(" \n"), text_.size())); }
  bool ahead(char c) {
    skip();
    return text_.starts_with(c);
  }
  bool take(char c) { return ahead(c) && (text_.remove_prefix(1), true); }
  void require(char c) {
    if (!take(c)) fail();
  }
  std::string quoted() {
    if (ahead('[')) throw BadInput("its elements are records, and numbers of one dtype were expected");
    const char quote = ahead('"') ? '"' : '\'';
    require(quote);
    const std::size_t end = text_.find(quote);
    if (end == text_.npos) fail();
    std::string inside(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return inside;
  }
  std::string word() {
    for (const std::string_view w : {"True", "False"})
      if (skip(), text_.starts_with(w)) {
        text_.remove_prefix(w.size());
        return std::string(w);
      }
    fail();
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> extents;
    require('(');
    while (!take(')')) {
      skip();
      std::uint64_t extent = 0;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), extent);
      if (error == std::errc::result_out_of_range || extent > static_cast<std::uint64_t>(kMostFileExtent))
        throw BadInput("its shape holds an extent above 2^60");
      if (error != std::errc()) fail();
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      extents.push_back(static_cast<std::int64_t>(extent));
      if (!take(',') && !ahead(')')) fail();
      if (extents.size() > kMostAxes) throw BadInput(fmt::format("its shape has more than {} axes", kMostAxes));
    }
    return extents;
  }

  std::string_view text_;
};

// Bytes of an element, and our name of the dtype.  A uint16 and what NumPy does not know in two bytes are bf16, which it lacks.
std::pair<std::int64_t, std::optional<DType>> dtype_of(const std::string& descr) {
  constexpr std::pair<std::string_view, DType> kKnown[] = {{"<f2", f16}, {"<f4", f32},  {"<f8", f64},  {"<i4", i32},
                                                           {"<i8", i64}, {"<u2", bf16}, {"|V2", bf16}, {"<V2", bf16},
                                                           {"|i1", i8},  {"|u1", u8}};
  for (const auto& [name, dtype] : kKnown)
    if (descr == name) return {size_of(dtype), dtype};
  std::int64_t size = 0;
  const char* const end = descr.data() + descr.size();
  if (descr.starts_with('>'))
    throw BadInput(fmt::format("its elements are big-endian ('{}'), and '<' was expected", descr.substr(0, 20)));
  if (descr.size() >= 2 && descr[1] == 'O') throw BadInput("its elements are Python objects, and numbers were expected");
  const bool shaped = descr.size() >= 3 && (descr[0] == '<' || descr[0] == '|') &&
                      std::string_view("biufcVSU").find(descr[1]) != std::string_view::npos;
  const auto read = std::from_chars(descr.data() + std::min<std::size_t>(2, descr.size()), end, size);
  const bool sized = shaped && read.ec == std::errc() && read.ptr == end && size >= 0 && size <= kMostFileExtent / 4;
  if (!sized) throw BadInput(fmt::format("its dtype '{}' is none, as '<f4' is one", descr.substr(0, 20)));
  return {descr[1] == 'U' ? 4 * size : size, std::nullopt};
}

}  // namespace

void add_npy(const std::string& name, std::span<const std::byte> bytes, TensorFile& to) {
  const auto fail = [](const std::string& why) { throw BadInput(why); };
  if (bytes.size() < 10 || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    fail("it does not begin as a .npy file does");
  const int version = std::to_integer<int>(bytes[6]);
  const std::size_t begin = version == 1 ? 10 : 12;
  if (version < 1 || version > 3 || bytes.size() < begin)
    fail(fmt::format("it has version {} of .npy, and 1 to 3 are read", version));
  const std::size_t length =
      version == 1 ? detail::load<std::uint16_t>(bytes.data(), 4) : detail::load<std::uint32_t>(bytes.data(), 2);
  if (length > kMostNpyHeader || length > bytes.size() - begin)
    fail(fmt::format("its header has {} bytes by its length, and {} follow", length, bytes.size() - begin));
  const Header h = Literal({reinterpret_cast<const char*>(bytes.data()) + begin, length}).read();
  const auto [element, known] = dtype_of(h.descr);
  FileTensor t{.name = name, .dtype = h.descr, .known = known, .shape = h.shape, .data = bytes.subspan(begin + length)};
  const std::int64_t expected = bytes_of(t.shape, element);
  if (expected != static_cast<std::int64_t>(t.data.size()))
    fail(fmt::format("it has {} bytes of elements, and its shape {} in {} takes {}", t.data.size(), shape_text(t.shape), h.descr,
                     expected < 0 ? "more than 2^60" : fmt::format("{}", expected)));
  if (t.shape.empty() && is_text(t)) {
    to.metadata[name] = value_text(t);
    return;
  }
  if (h.columns_first && t.shape.size() > 1 && !t.data.empty()) {
    std::vector<std::size_t> reversed(t.shape.size());
    for (std::size_t i = 0; i < reversed.size(); ++i) reversed[i] = reversed.size() - 1 - i;
    std::reverse(t.shape.begin(), t.shape.end());  // as the elements lie, row by row
    put_in_order(t, reversed, to);
  }
  to.tensors.push_back(std::move(t));
}

std::string npy_header(std::string_view descr, std::span<const std::int64_t> shape) {
  std::string extents;
  for (const std::int64_t extent : shape) extents += fmt::format("{}{}", extents.empty() ? "" : ", ", extent);
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr, extents, shape.size() == 1 ? "," : "");
  text.resize((text.size() + 1 + 10 + 63) / 64 * 64 - 11, ' ');
  text += '\n';
  const auto length = static_cast<std::uint16_t>(text.size());
  return std::string(kMagic) + std::string("\1\0", 2) + std::string(reinterpret_cast<const char*>(&length), 2) + text;
}

}  // namespace assay
