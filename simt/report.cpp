// SPDX-License-Identifier: Apache-2.0
// Puts findings.trouble in words.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "arena.hpp"
#include "async.hpp"
#include "describe.hpp"
#include "findings.hpp"
#include "mbarrier.hpp"
#include "memory.hpp"
#include "options.hpp"
#include "register_pool.hpp"
#include "threads.hpp"
#include "watch.hpp"

namespace simt::detail {
namespace {

using What = Trouble::What;

const char* name(Meet kind) {
  switch (kind) {
    case Meet::block: return "sync_block";
    case Meet::named: return "sync_named";
    case Meet::warp: return "sync_warp";
    case Meet::shuffle: return "shuffle";
    case Meet::ballot: return "ballot";
    case Meet::any: return "any";
    case Meet::all: return "all";
    case Meet::butterfly: return "butterfly";
    case Meet::mma: return "mma";
    case Meet::ldmatrix: return "ldmatrix";
    case Meet::stmatrix: return "stmatrix";
    case Meet::registers: return "take_registers";
    case Meet::barrier: return "barrier_wait";
    case Meet::wgmma: return "wgmma";
  }
  return "";
}

std::string who() {
  const Thread* t = running_thread;
  if (t == nullptr) return "the host";
  return "block " + describe(device::blockIdx) + ", thread " + describe(t->index);
}

// Whether an address is so close to an allocation, live or released, that it was meant to be in it.
bool close_to(const Allocation& a, std::uintptr_t address) {
  return address < a.begin ? a.begin - address <= kLead : address <= a.begin + a.bytes + kLead;
}

// Place of an access to an address that is close to no allocation.
std::string far_position(std::uintptr_t address, unsigned bytes) {
  if (const Allocation* a = cut_offset_of(address, bytes))
    return position(*a, address, bytes) + " (an offset of more than 32 bits?)";
  const Allocation* nearest = nearest_allocation(address);
  const std::string where = "at " + hex(address) + ", which is in no allocation";
  return nearest == nullptr ? where : where + ": " + position(*nearest, address, bytes) + ", the nearest one";
}

// An access to memory that is not there.  Note: between two rows of an allocation, ld and st are stopped by the maps, which have
// no memory there either.
Finding describe_unmapped(std::uintptr_t address) {
  const std::uintptr_t meant = behind_map(address);
  const Allocation* a = find_allocation(meant);
  if (a != nullptr && a->live && meant >= a->begin && meant < a->begin + a->bytes && a->extents.size() > 1)
    return {"out_of_bounds", "an access between two rows, far from both, " + position(*a, meant, 1), {}, 0};
  Finding f{"out_of_bounds", "a plain access, made without ld or st, to unmapped memory at " + hex(address), {}, 0};
  a = find_allocation(address);
  if (a != nullptr) f.message += ", " + position(*a, address, 1);
  return f;
}

Finding describe_access(const Trouble& t) {
  Finding f{"out_of_bounds", access_of(t.bytes, t.write), {}, 0};
  const Allocation* a = find_allocation(t.address);
  if (a != nullptr && !close_to(*a, t.address)) a = nullptr;
  if (a != nullptr && !a->live && cut_offset_of(t.address, t.bytes) != nullptr) a = nullptr;
  const bool inside = a != nullptr && a->live && t.address >= a->begin && t.address + t.bytes <= a->begin + a->bytes;
  if (a != nullptr && a->begin == arena_begin()) {
    if (!inside) f.kind = "shared_overflow";
    Allocation asked = *a;
    asked.name = "shared memory";
    asked.live = true;
    f.message += position(asked, t.address, t.bytes);
  } else if (a != nullptr) {
    f.message += position(*a, t.address, t.bytes);
  } else {
    f.message += t.address < 4096 ? "through a null pointer (" + hex(t.address) + ")" : far_position(t.address, t.bytes);
  }
  if (inside) {
    f.kind = "misaligned";
    f.message += ", which is not aligned to " + plural(t.mask != 0 ? t.mask : t.bytes, "byte");
  }
  return f;
}

Finding describe_in_flight(const Trouble& t) {
  Finding f{"in_flight",
            access_of(t.bytes, t.write) + "at byte " + std::to_string(arena_offset(t.address)) +
                " of shared memory, which a cp_async may still be writing",
            {},
            0};
  unsigned thread = 0;
  if (const Copy* c = async_copies.writer(reinterpret_cast<const unsigned char*>(t.address), t.bytes, thread))
    f.message += " (" + place(c->where) + ", of thread " + describe(running_block.thread[thread].index) + ")";
  return f;
}

Finding describe_race(const Trouble& t) {
  const bool shared = is_shared(t.address);
  Finding f{shared ? "shared_race" : "global_race", access_at(t.address, t.bytes, t.write), {}, 0};
  f.message += std::string(", unordered after the ") + (t.earlier_write ? "write" : "read") + " by " + watch.describe(t.earlier);
  return f;
}

// Adds the source line of an address in this program, found by binutils' addr2line; if it finds none, the address.
void place_of_code(std::uintptr_t code, Finding& f) {
  char program[4096] = {}, line[4096] = {};
  if (readlink("/proc/self/exe", program, sizeof program - 1) <= 0) return;
  extern const char start_of_program[] __asm__("__executable_start");
  const std::string at = hex(code - reinterpret_cast<std::uintptr_t>(start_of_program));
  const std::string command = "addr2line -e '" + std::string(program) + "' " + at + " 2>/dev/null";
  if (FILE* const pipe = popen(command.c_str(), "r")) {
    if (std::fgets(line, sizeof line, pipe) == nullptr) line[0] = 0;
    pclose(pipe);
  }
  std::string text(line);
  text.erase(std::min(text.find_first_of(" \n"), text.size()));
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || text[0] == '?') {
    f.message += ", at " + at + " of the program";
    return;
  }
  f.file = std::filesystem::path(text.substr(0, colon)).lexically_normal();
  f.line = std::atoi(text.c_str() + colon + 1);
}

// "96 threads at sync_block (KERNEL.cu:12), 32 ended".  Sets whether all that wait are at the block barrier, and the first place.
std::string list_waiters(bool& all_at_block, const Where** first) {
  std::map<std::string, unsigned> groups;
  all_at_block = true;
  for (unsigned i = 0; i < running_block.threads; ++i) {
    const Thread& t = running_block.thread[i];
    if (t.fiber == nullptr) continue;
    std::string what = name(t.kind);
    if (t.kind == Meet::named) what += " " + std::to_string(t.mask_or_id);
    else if (t.kind == Meet::barrier) what += ": " + memory_barriers.state(t.mask_or_id);
    else if (t.kind == Meet::wgmma || t.kind == Meet::registers) what += " of warpgroup " + std::to_string(t.mask_or_id);
    else if (t.kind != Meet::block) what += " of lanes " + hex(t.mask_or_id);
    ++groups[what + " (" + place(t.where) + ")"];
    if (t.kind != Meet::block) all_at_block = false;
    if (*first == nullptr) *first = &t.where;
  }
  std::string text;
  for (const auto& [what, n] : groups) text += (text.empty() ? "" : ", ") + plural(n, "thread") + " at " + what;
  if (running_block.exited != 0) text += ", " + std::to_string(running_block.exited) + " ended";
  return text;
}

Finding describe_stuck() {
  bool all_at_block = false;
  const Where* first = nullptr;
  const std::string waiters = list_waiters(all_at_block, &first);
  Finding f{all_at_block ? "barrier_divergence" : "deadlock", {}, {}, 0};
  for (unsigned i = 0; i < running_block.threads; ++i)
    if (running_block.thread[i].fiber != nullptr && running_block.thread[i].kind == Meet::registers && f.kind == "deadlock")
      return {"bad_registers", register_pool.shortage() + " in block " + describe(device::blockIdx) + ": " + waiters,
              running_block.thread[i].where.file_name(), static_cast<int>(running_block.thread[i].where.line())};
  f.message = std::string(all_at_block ? "not all threads reach the same block barrier" : "no thread can go on") + " in block " +
              describe(device::blockIdx) + ": " + waiters;
  if (first != nullptr) {
    f.file = first->file_name();
    f.line = static_cast<int>(first->line());
  }
  return f;
}

}  // namespace

Finding describe_trouble() {
  const Trouble& t = findings.trouble;
  if (t.what == What::stuck) return describe_stuck();
  const std::string call = std::string(name(t.kind)) + " of lanes " + hex(t.mask) + " ";
  const std::string lane = "lane " + std::to_string(t.lane);
  Finding f{t.kind >= Meet::mma ? "bad_mma" : "bad_shuffle", {}, {}, 0};
  switch (t.what) {
    case What::access: f = describe_access(t); break;
    case What::plain_access: f = describe_unmapped(t.address); break;
    case What::stack_overflow: f = {"stack_overflow", "a thread's local variables outgrew its stack", {}, 0}; break;
    case What::time_limit:
      f = {"time_limit", "the launch ran longer than " + std::to_string(options.time_limit_s) + " s", {}, 0};
      break;
    case What::bad_named_barrier:
      f = {"barrier_divergence",
           "sync_named(" + std::to_string(static_cast<int>(t.lane)) + ", " + std::to_string(static_cast<int>(t.mask)) +
               "): the barrier is one of 1 to 15, its threads a positive multiple of 32",
           {},
           0};
      break;
    case What::named_barrier_size:
      f = {"barrier_divergence",
           "sync_named " + std::to_string(t.lane) + " for " + plural(t.mask, "thread") + " while others wait at it for " +
               std::to_string(t.bytes),
           {},
           0};
      break;
    case What::caller_not_in_mask: f.message = call + "is called by " + lane + ", which the mask does not name"; break;
    case What::lane_missing: f.message = call + "names " + lane + ", which the block does not have"; break;
    case What::lane_exited: f.message = call + "names " + lane + ", which has ended"; break;
    case What::lane_left: f.message = call + "waits for " + lane + ", which ends without it"; break;
    case What::source_inactive: f.message = call + "reads from " + lane + ", which takes no part"; break;
    case What::mixed_work: f.message = call + "is another instruction in some lanes"; break;
    case What::matrix_not_shared:
      f = {"bad_mma", "ldmatrix reads at " + hex(t.address) + ", outside shared memory", {}, 0};
      break;
    case What::in_flight: f = describe_in_flight(t); break;
    case What::reported: f = {findings.reported_kind, findings.reported, {}, 0}; break;
    case What::race: f = describe_race(t); break;
    case What::observed:
      f = {"plain_access", "a plain " + access_at(t.address, t.bytes, t.write) + ", made without ld or st", {}, 0};
      break;
    case What::trapped:
      f = {"out_of_bounds", "an index outside its array, or a pointer that is not aligned to its type", {}, 0};
      break;
    case What::uninitialised:
      f = {"uninitialised", access_at(t.address, t.bytes, t.write) + ", which nobody wrote", {}, 0};
      break;
    case What::copy_not_to_shared:
      f = {"bad_copy", "cp_async writes at " + hex(t.address) + ", outside shared memory", {}, 0};
      break;
    case What::copy_from_shared: f = {"bad_copy", "cp_async reads from shared memory", {}, 0}; break;
    case What::copy_of_too_much:
      f = {"bad_copy",
           "cp_async of " + plural(t.bytes, "byte") + ", " + std::to_string(static_cast<int>(t.mask)) + " of them valid",
           {},
           0};
      break;
    default: break;
  }
  f.message += ", by " + who();
  f.file = t.where.file_name();
  f.line = static_cast<int>(t.where.line());
  if (t.code != 0) place_of_code(t.code, f);
  return f;
}

}  // namespace simt::detail
