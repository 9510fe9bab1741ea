// SPDX-License-Identifier: Apache-2.0
#include "describe.hpp"

#include <cstdio>

namespace simt::detail {

std::string hex(std::uint64_t v) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(v));
  return text;
}

std::string plural(std::uint64_t n, const char* noun) { return std::to_string(n) + " " + noun + (n == 1 ? "" : "s"); }

std::string place(const Where& w) { return std::string(w.file_name()) + ":" + std::to_string(w.line()); }

std::string describe(const device::uint3& i) {
  return "(" + std::to_string(i.x) + ", " + std::to_string(i.y) + ", " + std::to_string(i.z) + ")";
}

std::string position(const Allocation& a, std::uintptr_t address, unsigned bytes) {
  const std::string name = "'" + a.name + "' (" + plural(a.bytes, "byte") + ")";
  if (!a.live) return "in " + name + ", which was released";
  if (address < a.begin) return plural(a.begin - address, "byte") + " before the start of " + name;
  const std::uintptr_t past = address + bytes - (a.begin + a.bytes);
  if (address + bytes > a.begin + a.bytes) return "ending " + plural(past, "byte") + " past the end of " + name;
  return "at byte " + std::to_string(address - a.begin) + " of " + name;
}

std::string access_of(unsigned bytes, bool write) {
  return std::string(write ? "write" : "read") + " of " + plural(bytes, "byte") + " ";
}

std::string access_at(std::uintptr_t address, unsigned bytes, bool write) {
  const Allocation* const a = find_allocation(address);
  return access_of(bytes, write) + (a != nullptr ? position(*a, address, bytes) : "");
}

}  // namespace simt::detail
