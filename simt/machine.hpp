// SPDX-License-Identifier: Apache-2.0
// The simulated machine seen from the host: its memory, how it runs, what it found and what it counted.
// One machine per process; not thread-safe (run several processes instead).
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace simt {

// The order in which blocks, and the threads of a block, take their turns.
enum class ThreadOrder { forward, reverse, shuffle };

// How tensor cores add up: exactly as a generation does, or as a sum in double that is rounded once, which is faster only
// where there is no AVX2.
enum class Mma { hopper, ampere, fast };

struct Options {
  ThreadOrder order = ThreadOrder::forward;
  std::uint64_t seed = 0;      // of ThreadOrder::shuffle; every launch starts from it
  bool count_sectors = false;  // bytes are always counted; sectors and requests cost more
  double time_limit_s = 0;     // of one launch; 0: none.  Noticed at accesses, shuffles and barriers only
  Mma mma = Mma::hopper;
  const void* stream = nullptr;  // the caller's, on which alone launches are waited for; null: any is
  bool watch = false;            // races, and reads of what nobody wrote, are findings too
};
// Holds for the launches that follow.
void configure(const Options& options);

// What the machine reports when a kernel does what no kernel may.
//   out_of_bounds       outside every allocation; also after release, through null, or a plain access that faults
//   misaligned          in bounds, at an address that is not a multiple of the access's size
//   shared_overflow     in shared memory, outside the bytes that the launch asked for
//   barrier_divergence  sync_block that some threads of the block reach elsewhere or never; an impossible sync_named
//   deadlock            no thread can go on; the message lists who waits where
//   bad_shuffle         a mask without its caller, or with lanes that ended or never were; a source outside the mask.
//                       sync_warp alone may name lanes that ended
//   bad_mma             mma or ldmatrix that not all 32 lanes of a warp reach; ldmatrix outside shared memory
//   in_flight           an access to bytes of shared memory that an asynchronous copy may still be writing: of copy_box, until
//                       somebody has waited for the phase that counts it
//   plain_access        global or shared memory touched without ld or st, where plain accesses are observed (observe.cpp)
//   shared_race global_race   two accesses that nothing orders (watch.hpp), with watch
//   uninitialised       a read of bytes that neither a kernel wrote nor the host marked as written, with watch
//   bad_copy            cp_async not from global to shared memory, or with an impossible `valid`
//   bad_barrier bad_box bad_descriptor bad_registers   what barriers in memory, tensor copies, wgmma and take_registers may not be;
//                       bad_registers also where the warpgroups of a block want more than there are
//   wgmma_reads         shared memory written while a wgmma or a store_box may still read it
//   wgmma_registers     accumulators written while a wgmma runs that gives them; read, they are NaN
//   wgmma_unordered     a wgmma whose registers no wgmma_begin orders after what was done to them
//   unfenced            shared memory that a thread wrote, and did not fence for wgmma or store_box; barriers before barriers_ready
//   left_behind         a block that ends before what it began is over: copies, stores, wgmma, bytes that a barrier expects
//   stack_overflow time_limit
//   bad_launch          a shape or a size of shared memory that no GPU accepts; the line is the launch's
//   unjoined_stream     a launch on a stream that the caller's does not wait for; the line is the launch's
struct Finding {
  std::string kind;
  std::string message;  // one sentence: what, where in memory, which block and thread
  std::string file;     // of the kernel's source line; empty for plain accesses, whose line is unknown
  int line = 0;
};

// Thrown out of launch() on the first finding; the launch is abandoned, the machine stays usable.
class Fault : public std::runtime_error {
 public:
  explicit Fault(Finding finding);
  const Finding& finding() const { return finding_; }

 private:
  Finding finding_;
};

// Global memory, contents undefined.  Exactly `bytes` bytes are accessible to kernels, starting `offset` bytes after a 256-byte
// boundary; an access one byte outside is a finding that names the allocation.  The host may read and write them freely.  Throws
// std::bad_alloc; up to about 4000 allocations live at a time.
void* allocate(std::size_t bytes, std::size_t offset, std::string_view name);
// What the host has written there: a kernel may read it.
void mark_written(const void* p, std::size_t bytes) noexcept;
// An allocation, of which this is the start, is what it was when it was made: nobody has written it.
void mark_unwritten(const void* allocation) noexcept;
// The first of these bytes that no kernel wrote since counts were reset; `bytes` where each was written.
std::size_t first_unwritten(const void* p, std::size_t bytes) noexcept;
void release(void* p) noexcept;  // of anything that is not a live allocation: nothing
// Of all live allocations together, as they were asked for.
std::size_t bytes_in_use() noexcept;

// What kernels moved in one allocation since it was made or its counts were reset.
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
// What one call of ld, st, ... moved in one allocation (with count_sectors).
struct SiteCounts {
  std::string file;
  int line = 0;
  std::string allocation;  // its name; "shared memory"
  bool write = false;
  std::uint64_t bytes = 0, requests = 0;
  std::uint64_t sectors = 0;     // of global memory
  std::uint64_t wavefronts = 0;  // of shared memory: passes that the requests need, see sectors.hpp
};
std::vector<SiteCounts> site_counts();  // since the counts were reset; by file, line and allocation
Counts counts(const void* allocation);  // any address in it; throws std::invalid_argument outside
void reset_counts() noexcept;

// Runs a kernel whose counts are known and throws std::logic_error if one differs: then no figure is to be trusted.
void canary();

}  // namespace simt
