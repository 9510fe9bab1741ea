// SPDX-License-Identifier: Apache-2.0
// Words for numbers, threads and places in memory, of which findings are made.
#pragma once

#include <cstdint>
#include <string>

#include "hooks.hpp"
#include "memory.hpp"
#include "where.hpp"

namespace simt::detail {

std::string hex(std::uint64_t v);
std::string plural(std::uint64_t n, const char* noun);  // "2 bytes"
std::string place(const Where& w);                      // "KERNEL.cu:12"
std::string describe(const device::uint3& i);           // "(1, 0, 0)"
// Place of an access relative to the allocation `a`: "ending 3 bytes past the end of 'x' (400 bytes)".
std::string position(const Allocation& a, std::uintptr_t address, unsigned bytes);
std::string access_of(unsigned bytes, bool write);  // "read of 4 bytes "
// "read of 4 bytes at byte 0 of 'x' (128 bytes)"
std::string access_at(std::uintptr_t address, unsigned bytes, bool write);

}  // namespace simt::detail
