// SPDX-License-Identifier: Apache-2.0
// The source line of a kernel from which a device function was called.  It is a std::source_location, or a class of the same form
// where the compiler has none (clang 14, 15).
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <source_location>

namespace simt {

#if defined(__cpp_lib_source_location)
using Where = std::source_location;

// A number for a call: the same at each execution, and another for another call on the same line.
inline std::uintptr_t site_key(const Where& where) {
  static_assert(sizeof(Where) == sizeof(std::uintptr_t), "the library keeps one pointer to a constant per call");
  return std::bit_cast<std::uintptr_t>(where);
}
#else
class Where {
 public:
  constexpr Where() = default;
  static constexpr Where current(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE(),
                                 std::uint32_t column = __builtin_COLUMN()) {
    Where where;
    where.file_ = file;
    where.line_ = line;
    where.column_ = column;
    return where;
  }
  constexpr const char* file_name() const { return file_; }
  constexpr std::uint32_t line() const { return line_; }
  constexpr std::uint32_t column() const { return column_; }

 private:
  const char* file_ = "";
  std::uint32_t line_ = 0, column_ = 0;
};

inline std::uintptr_t site_key(const Where& where) {
  return reinterpret_cast<std::uintptr_t>(where.file_name()) + (std::uintptr_t{where.line()} << 44) +
         (std::uintptr_t{where.column()} << 32);
}
#endif

[[gnu::cold, gnu::noinline]] inline bool same_text(Where a, Where b) {
  return a.line() == b.line() && a.column() == b.column() && std::strcmp(a.file_name(), b.file_name()) == 0;
}

// Note: the instantiations of one template have different keys, but one place in the source.
inline bool same_site(Where a, Where b) { return site_key(a) == site_key(b) || same_text(a, b); }

}  // namespace simt
