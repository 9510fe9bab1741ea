// SPDX-License-Identifier: Apache-2.0
// The simulated machine as its host sees it: options, findings, memory and counters.
// There is one machine a process, and it is not thread-safe; run several processes instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace simt {

// The order in which blocks, and the threads of a block, take turns.
enum class ThreadOrder { forward, reverse, shuffle };

// How tensor cores add: exactly as a generation of GPUs does, or, with `fast`, in double with one rounding, which is faster only
// without AVX2.
enum class Mma { hopper, ampere, fast };

struct Options {
  ThreadOrder order = ThreadOrder::forward;
  std::uint64_t seed = 0;      // of ThreadOrder::shuffle; every launch starts from it
  bool count_sectors = false;  // also count sectors, requests and wavefronts, which costs time; bytes are always counted
  double time_limit_s = 0;     // of one launch; 0: none.  Noticed at accesses, shuffles and barriers only
  Mma mma = Mma::hopper;
  const void* stream = nullptr;  // a launch on any other stream is a finding; null: any stream is allowed
  bool watch = false;            // races, and reads of what nobody wrote, are findings too
  // With watch: a compiler of programs for whole blocks, as Triton, chose the threads.  Where it has more threads than elements,
  // several hold one element.  Two races of such threads are then no findings.  Stores of one instruction to one place of shared
  // memory may differ, as each lane rounds its own sum: that of the last lane stays, in every order.  And threads of one block
  // may load an element of global memory before or after one of them stores it again: the first such race of a launch is
  // suspected() only, since what all but one have loaded may count for nothing.  Also, atomic operations that release and
  // acquire, by one thread of a warp, order blocks.
  bool replicated = false;
};
// Sets the options of all later launches.
void configure(const Options& options);
// Sets them while it lives; later launches have the defaults.
class Configured {
 public:
  explicit Configured(const Options& options) { configure(options); }
  ~Configured() { configure({}); }
  Configured(const Configured&) = delete;
  Configured& operator=(const Configured&) = delete;
};

// An error of a kernel.  Its kinds:
//   out_of_bounds       an access outside every allocation, after release or through null; a plain access that faults
//   misaligned          an access in bounds, at an address that is not a multiple of its size
//   shared_overflow     an access to shared memory outside the bytes that the launch asked for
//   barrier_divergence  a sync_block that some threads of the block never reach or reach elsewhere; an impossible sync_named
//   deadlock            no thread can go on; the message lists which threads wait where
//   bad_shuffle         a mask that lacks its caller, or names lanes that have ended or do not exist; a source outside the mask.
//                       Only sync_warp may name lanes that have ended
//   bad_mma             an mma, ldmatrix or wgmma that not all lanes reach alike; an ldmatrix outside shared memory
//   in_flight           an access to shared memory that an asynchronous copy may still be writing; copy_box may do so until a
//                       thread has waited for the phase that counts its bytes
//   plain_access        an access to global or shared memory without ld or st; found only with observe.cpp
//   shared_race global_race   with watch: two accesses that nothing orders (watch.hpp)
//   uninitialised       with watch: a read of bytes that no kernel wrote and the host did not mark as written
//   bad_copy            a cp_async not from global to shared memory, or with an impossible `valid`
//   bad_barrier bad_box bad_descriptor bad_registers   arguments that barriers in memory, tensor copies, wgmma and take_registers
//                       do not accept; for bad_registers also a block whose warpgroups want more than there are
//   wgmma_reads         a write to shared memory that a wgmma or a store_box may still read
//   wgmma_registers     a write to accumulators of a running wgmma; a read gives NaN
//   wgmma_unordered     a wgmma without a wgmma_begin after the last accesses to its registers
//   early_read          in a dependent launch: a read of what a launch before wrote, by a thread that has not waited for it
//   early_write         the same: any write to global memory; of device words only
//   early_end           a dependent launch in which no thread waited
//   unfenced            shared memory given to wgmma, store_box or copy_box without a fence by its writer; a barrier without
//                       barriers_ready
//   left_behind         a block that ends with unfinished copies, stores or wgmma, or while a barrier still expects bytes
//   stack_overflow time_limit
//   bad_launch          a grid, block or size of shared memory that no GPU accepts; the line is the launch's
//   unjoined_stream     a launch on another stream than Options::stream; the line is the launch's
struct Finding {
  std::string kind;
  std::string message;  // one sentence: the error, the place in memory, the block and the thread
  std::string file;     // of the kernel's source line; empty if that is unknown, as for a plain access that faults
  int line = 0;
};

// Thrown by launch() at the first finding.  The launch is abandoned; the machine stays usable.
class Fault : public std::runtime_error {
 public:
  explicit Fault(Finding finding);
  const Finding& finding() const { return finding_; }

 private:
  Finding finding_;
};

// The machine itself has no memory, which is no error of a kernel.
struct OutOfMemory : std::bad_alloc {
  const char* what() const noexcept override { return "the simulated machine has no more memory"; }
};
// The least limit of address space (ulimit -v) with which the machine starts: it reserves a part of it at its first allocation.
std::size_t least_address_space() noexcept;

// With Options::replicated: the race of the last launch that may count for nothing; null: there was none.  A result that differs
// in another order of threads shows that it counts.
const Finding* suspected() noexcept;

// Allocates global memory with undefined contents.  Kernels may access exactly `bytes` bytes, which start `offset` bytes after a
// 256-byte boundary; an access outside is a finding that names the allocation.  The host may read and write them freely.  Throws
// OutOfMemory; about 4000 allocations can live at a time, fewer where address space is limited.
void* allocate(std::size_t bytes, std::size_t offset, std::string_view name);
// Bytes [begin, end) of an allocation.
struct Extent {
  std::size_t begin, end;
};
// The same, of which only the pages of these extents exist, several in rising order from the first byte to the last; any other
// access is a finding too.
void* allocate(std::size_t bytes, std::size_t offset, std::string_view name, const std::vector<Extent>& extents);
// Whether kernels have written to an allocation since its counts were reset.
bool written(const void* allocation) noexcept;
// Takes all allocations from the host, and gives them back.  While taken, the host's access ends the process, as with a GPU's
// memory; launches have them.
void take_from_host();
void give_to_host() noexcept;
// Whether this program's kernels are compiled so that accesses without ld and st are findings (observe.cpp).
bool sees_plain_accesses() noexcept;
// Marks bytes that the host has written, so that kernels may read them.
void mark_written(const void* p, std::size_t bytes) noexcept;
// Marks every byte of an allocation as written by nobody, and resets its counts.  Takes any address in it.
void mark_unwritten(const void* allocation) noexcept;
// Offset of the first of these bytes that no kernel has written since counts were reset; `bytes` if all were.
std::size_t first_unwritten(const void* p, std::size_t bytes) noexcept;
void release(void* p) noexcept;  // does nothing unless p is the start of a live allocation
// Sum of the requested sizes of all live allocations.
std::size_t bytes_in_use() noexcept;

// Traffic of kernels in one allocation since it was made or its counts were reset.
struct Counts {
  std::uint64_t read_bytes = 0;  // as requested, every access counted
  std::uint64_t written_bytes = 0;
  std::uint64_t unique_read_bytes = 0;  // each byte once, however often
  std::uint64_t unique_written_bytes = 0;
  std::uint64_t read_requests = 0;  // warp-wide instructions (with count_sectors)
  std::uint64_t written_requests = 0;
  std::uint64_t read_sectors = 0;  // distinct 32-byte sectors of each request, added up (with count_sectors)
  std::uint64_t written_sectors = 0;
};
// Traffic of one call of ld, st, ... in one allocation (with count_sectors).
struct SiteCounts {
  std::string file;
  int line = 0;
  std::string allocation;  // its name, or "shared memory"
  bool write = false;
  std::uint64_t bytes = 0, requests = 0;
  std::uint64_t sectors = 0;     // of global memory
  std::uint64_t wavefronts = 0;  // of shared memory; see sectors.hpp
};
std::vector<SiteCounts> site_counts();  // since the counts were reset; by file, line and allocation
Counts counts(const void* allocation);  // takes any address in it; throws std::invalid_argument outside
void reset_counts() noexcept;

// Runs a kernel whose counts are known and one with a race, in all orders.  Throws std::logic_error if the machine is wrong.
void canary();

}  // namespace simt
