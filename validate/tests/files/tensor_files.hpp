// SPDX-License-Identifier: Apache-2.0
// Files of tensors that tests make by hand, right ones and others.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::test {

template <class T>
std::string raw(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

inline std::string safetensors(const std::string& header, const std::string& elements) {
  return raw(std::uint64_t{header.size()}) + header + elements;
}

inline std::string npy(const std::string& header, const std::string& elements, int version = 1) {
  const std::string length =
      version == 1 ? raw(static_cast<std::uint16_t>(header.size())) : raw(static_cast<std::uint32_t>(header.size()));
  return "\x93NUMPY" + std::string{static_cast<char>(version), '\0'} + length + header + elements;
}
inline std::string npy_header(const std::string& descr, const std::string& shape, const char* columns_first = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + columns_first + ", 'shape': " + shape + ", }\n";
}

inline std::string deflated(const std::string& bytes) {
  z_stream z{};
  ::deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string packed(bytes.size() + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(packed.data());
  z.avail_out = static_cast<uInt>(packed.size());
  ::deflate(&z, Z_FINISH);
  packed.resize(packed.size() - z.avail_out);
  ::deflateEnd(&z);
  return packed;
}

// A member of a zip file, with fields that a test may falsify.
struct ZipMember {
  std::string name, bytes;  // unpacked
  bool deflate = false;
  std::uint16_t flags = 0;
  int method = -1;                                                                 // -1: as `deflate` says
  std::int64_t said_bytes = -1, said_packed = -1, said_sum = -1, said_local = -1;  // -1: the truth
  bool large = false;    // sizes and place in the field for large files, as NumPy writes local headers
  std::string packed{};  // empty: made from `bytes`
};

struct ZipEnd {
  int members = -1;  // -1: the truth
  std::int64_t begin = -1, bytes = -1;
  bool large = false;
  std::string comment{};
};

inline std::string zip(std::vector<ZipMember> members, const ZipEnd& end = {}) {
  std::string file, directory;
  for (const ZipMember& m : members) {
    const std::string packed = !m.packed.empty() ? m.packed : m.deflate ? deflated(m.bytes) : m.bytes;
    const auto sum =
        m.said_sum >= 0
            ? static_cast<std::uint32_t>(m.said_sum)
            : static_cast<std::uint32_t>(::crc32(::crc32(0, nullptr, 0), reinterpret_cast<const Bytef*>(m.bytes.data()),
                                                 static_cast<uInt>(m.bytes.size())));
    const std::uint64_t bytes = m.said_bytes >= 0 ? static_cast<std::uint64_t>(m.said_bytes) : m.bytes.size();
    const std::uint64_t size = m.said_packed >= 0 ? static_cast<std::uint64_t>(m.said_packed) : packed.size();
    const std::uint64_t local = m.said_local >= 0 ? static_cast<std::uint64_t>(m.said_local) : file.size();
    const auto method = static_cast<std::uint16_t>(m.method >= 0 ? m.method : m.deflate ? 8 : 0);
    const auto narrow = [&](std::uint64_t v) { return raw(m.large ? 0xffffffffu : static_cast<std::uint32_t>(v)); };
    const std::string extra = m.large ? raw(std::uint16_t{1}) + raw(std::uint16_t{24}) + raw(bytes) + raw(size) + raw(local) : "";
    const std::string both = raw(std::uint16_t{20}) + raw(m.flags) + raw(method) + std::string(4, '\0') + raw(sum) +
                             narrow(size) + narrow(bytes) + raw(static_cast<std::uint16_t>(m.name.size())) +
                             raw(static_cast<std::uint16_t>(extra.size()));
    directory += raw(0x02014b50u) + raw(std::uint16_t{20}) + both + std::string(10, '\0') + narrow(local) + m.name + extra;
    file += raw(0x04034b50u) + both + m.name + extra + packed;
  }
  const std::uint64_t begin = end.begin >= 0 ? static_cast<std::uint64_t>(end.begin) : file.size();
  const std::uint64_t bytes = end.bytes >= 0 ? static_cast<std::uint64_t>(end.bytes) : directory.size();
  const auto count = static_cast<std::uint16_t>(end.members >= 0 ? static_cast<std::size_t>(end.members) : members.size());
  const std::uint64_t at = file.size() + directory.size();
  file += directory;
  if (end.large)
    file += raw(0x06064b50u) + raw(std::uint64_t{44}) + std::string(12, '\0') + raw(std::uint64_t{count}) +
            raw(std::uint64_t{count}) + raw(bytes) + raw(begin) + raw(0x07064b50u) + raw(0u) + raw(at) + raw(1u);
  const auto narrow = [&](std::uint64_t v) { return raw(end.large ? 0xffffffffu : static_cast<std::uint32_t>(v)); };
  return file + raw(0x06054b50u) + raw(0u) + raw(count) + raw(count) + narrow(bytes) + narrow(begin) +
         raw(static_cast<std::uint16_t>(end.comment.size())) + end.comment;
}

}  // namespace assay::test
