// SPDX-License-Identifier: Apache-2.0
// Addresses of a warp's accesses, shared by loads, stores, atomics and copies.
#pragma once

#include "decode.hpp"

namespace simt::ptx {

// A thread's own memory begins here among generic addresses.
inline constexpr std::uint64_t kLocalWindow = std::uint64_t{1} << 56;
// The parameters of the kernel begin here among generic addresses.
inline constexpr std::uint64_t kParameterWindow = std::uint64_t{1} << 57;

// Decodes `[a + offset]` in a space: the operation's a (kNone: there is none), value and how.
void decode_address_of(Decoder& d, const Operand& o, Space space);
// Adds a further address of an operation to its list, in three places, and reads it again.
void further_address(Decoder& d, const Operand& o, Space space);
std::uint64_t further_address(const Warp& w, const Place* three, unsigned lane);
// The space that the modifiers name.
Space take_space(Decoder& d);
// Takes the modifiers that change nothing here: caches, scopes, orders.
void take_hints(Decoder& d);

inline void become(const Warp& w, unsigned lane) { detail::running_thread = w.thread + lane; }

// Bits of Op::how of an access.
enum AccessBits : std::uint8_t { kSpaceBits = 7, kWideAddress = 8, kWideRegister = 16 };

// Where the lanes' accesses begin, as addresses of this process; offsets for local memory.
void addresses(const Warp& w, const Op& o, std::uint64_t (&at)[kLanes]);
// The bytes of a thread's own memory, checked.
std::byte* own(const Warp& w, unsigned lane, std::uint64_t offset, unsigned bytes, bool write, Where where);

}  // namespace simt::ptx
