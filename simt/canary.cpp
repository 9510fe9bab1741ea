// SPDX-License-Identifier: Apache-2.0
// The machine's check of itself: a kernel whose bytes, requests, sectors and wavefronts follow from its source, and a race.
#include <stdexcept>
#include <string>

#include "device.hpp"
#include "machine.hpp"
#include "options.hpp"
#include "sectors.hpp"

namespace simt {
namespace {

using namespace device;

constexpr int kBlocks = 3, kThreads = 64;  // 6 warps
constexpr int kFloats = kBlocks * kThreads;

// A warp reads two stretches of `x` in order (4 sectors each), every eighth float of `x` (32 sectors), and the same four floats
// in all lanes (1 sector).  It writes one float a lane and one atomic sum.
void known_counts(const float* x, float* y, float* total) {
  const int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  float v = 0;
  for (int pass = 0; pass < 2; ++pass) v += ld(x + i + pass * kFloats);
  v += ld(x + i * 8);
  v += ld(reinterpret_cast<const Vec<float, 4>*>(x))[3];
  float* partial = shared_memory<float>();
  st(partial + threadIdx.x, v);
  sync_block();
  v = ld(partial + (threadIdx.x ^ 32));
  ld(partial + threadIdx.x * 2 % kThreads);  // two words of every other bank: 2 wavefronts
  st(y + i, v);
  for (int offset = 16; offset > 0; offset /= 2) v += shuffle_xor(v, offset);
  if (lane_id() == 0) atomic_add(total, v);
}

// The result is right in every order, since all threads write the same value.
void known_race(float* y) {
  st(shared_memory<float>(), 1.0f);
  if (threadIdx.x == 0) st(y, ld(shared_memory<float>()));
}

void demand(const char* what, std::uint64_t got, std::uint64_t want) {
  if (got != want)
    throw std::logic_error(std::string("simt canary: ") + what + " is " + std::to_string(got) + ", not " + std::to_string(want));
}

class Owner {
 public:
  Owner(std::size_t bytes, const char* name) : p_(static_cast<float*>(allocate(bytes, 0, name))) {}
  ~Owner() { release(p_); }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  float* get() const { return p_; }

 private:
  float* p_;
};

class SavedOptions {
 public:
  SavedOptions() : options_(detail::options) {}
  ~SavedOptions() { configure(options_); }
  SavedOptions(const SavedOptions&) = delete;
  SavedOptions& operator=(const SavedOptions&) = delete;

 private:
  Options options_;
};

void run_canary(ThreadOrder order) {
  configure({.order = order, .seed = 7, .count_sectors = true, .time_limit_s = 0, .watch = true});
  detail::sector_log.reset();
  constexpr std::uint64_t kWarps = kFloats / 32;
  const Owner x(kFloats * 8 * sizeof(float), "canary x"), y(kFloats * sizeof(float), "canary y"),
      total(sizeof(float), "canary sum");
  for (int i = 0; i < kFloats * 8; ++i) x.get()[i] = 1.0f;
  *total.get() = 0;
  mark_written(x.get(), kFloats * 8 * sizeof(float));
  mark_written(total.get(), sizeof(float));
  launch(known_counts, {.grid = dim3(kBlocks), .block = dim3(kThreads), .shared_bytes = kThreads * sizeof(float)}, nullptr,
         x.get(), y.get(), total.get());

  const Counts cx = counts(x.get()), cy = counts(y.get()), ct = counts(total.get());
  demand("read_bytes", cx.read_bytes, kFloats * (2 * 4 + 4 + 16));
  demand("unique_read_bytes", cx.unique_read_bytes, kFloats * (2 * 4 + 4) - kFloats / 4 * 4);
  demand("read_requests", cx.read_requests, kWarps * 4);
  demand("read_sectors", cx.read_sectors, kWarps * (2 * 4 + 32 + 1));
  demand("written_bytes of an input", cx.written_bytes, 0);
  demand("written_bytes", cy.written_bytes, kFloats * 4);
  demand("unique_written_bytes", cy.unique_written_bytes, kFloats * 4);
  demand("written_requests", cy.written_requests, kWarps);
  demand("written_sectors", cy.written_sectors, kWarps * 4);
  demand("read_bytes of an output", cy.read_bytes, 0);
  demand("bytes read by an atomic", ct.read_bytes, kWarps * 4);
  demand("unique bytes written by an atomic", ct.unique_written_bytes, 4);
  demand("sectors of an atomic", ct.written_sectors, kWarps);
  SiteCounts shared[2];
  for (const SiteCounts& s : site_counts())
    if (s.allocation == "shared memory") {
      shared[s.write].bytes += s.bytes;
      shared[s.write].requests += s.requests;
      shared[s.write].wavefronts += s.wavefronts;
    }
  demand("bytes written to shared memory", shared[true].bytes, kFloats * 4);
  demand("wavefronts written", shared[true].wavefronts, kWarps);
  demand("bytes read from shared memory", shared[false].bytes, 2 * kFloats * 4);
  demand("requests to shared memory", shared[false].requests, 2 * kWarps);
  demand("wavefronts read", shared[false].wavefronts, 3 * kWarps);
  demand("the atomic sum", static_cast<std::uint64_t>(*total.get()), kFloats * 4);
}

void run_race(ThreadOrder order) {
  configure({.order = order, .seed = 7, .watch = true});
  const Owner y(sizeof(float), "canary y");
  std::string found = "nothing";
  try {
    launch(known_race, {.grid = dim3(1), .block = dim3(kThreads), .shared_bytes = sizeof(float)}, nullptr, y.get());
  } catch (const Fault& fault) {
    found = fault.finding().kind;
  }
  if (found != "shared_race") throw std::logic_error("simt canary: " + found + " was found where there is a race");
}

}  // namespace

void canary() {
  const SavedOptions saved;
  for (ThreadOrder order : {ThreadOrder::forward, ThreadOrder::reverse, ThreadOrder::shuffle}) {
    run_canary(order);
    run_race(order);
  }
  detail::sector_log.reset();
}

}  // namespace simt
