// SPDX-License-Identifier: Apache-2.0
// Answers which tile of cuda/core/hopper_gemm.cuh is fastest for a shape, and how its time compares with cuBLASLt's.  The
// constants by which product_by chooses a tile are set from these times: those of step_cycles and cost in
// cuda/core/hopper_gemm_product.cuh, and kCycles in cuda/core/hopper_epilogue.cuh.  Needs an H100 or H200.
//   bash reports/tiles/build.sh tiles
//   ./tiles [--op linear|gelu_linear|gemm_swiglu] [--tokens M] [--rounds N] [--json FILE]
// The candidates of a problem are launched in random turns, after a flush of L2 each.  One whose result differs from the
// library's is not timed, and the exit code is 1.
#include <cuda_runtime.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/tiles/library.hpp"
#include "reports/tiles/tiles.hpp"

namespace tiles {

namespace {

struct Shape {
  int m, n, k;
};
struct Op {
  const char* name;
  std::vector<Candidate> (*candidates)(const Problem& p);
  bool biased, gated;
  std::vector<Shape> shapes;
};

// Those of models' products, and small ones, where tiles do not fill the device.
const Op kOps[] = {
    {"linear", linear_tiles, false, false, {{4096, 4096, 4096},  {512, 12288, 4096}, {2048, 12288, 4096}, {8192, 12288, 4096},
                                            {8192, 8192, 8192},  {512, 11008, 4096}, {2048, 11008, 4096}, {8192, 11008, 4096},
                                            {8192, 4096, 11008}, {512, 4096, 11008}, {2048, 4096, 4096},  {2048, 4096, 11008},
                                            {2048, 10240, 8192}, {2048, 8192, 8192}, {2048, 28672, 8192}, {2048, 8192, 28672},
                                            {1000, 1000, 1000},  {512, 512, 512},    {1024, 1024, 1024},  {2048, 2048, 2048},
                                            {256, 4096, 4096},   {128, 12288, 4096}, {64, 12288, 4096},   {64, 4096, 11008},
                                            {16, 12288, 4096},   {16, 4096, 11008},  {1, 12288, 4096},    {1, 22016, 4096},
                                            {1, 4096, 11008}}},
    {"gelu_linear",
     gelu_tiles,
     true,
     false,
     {{1, 11008, 4096}, {16, 11008, 4096}, {64, 11008, 4096}, {512, 11008, 4096}, {2048, 11008, 4096}, {8192, 11008, 4096}}},
    {"gemm_swiglu", swiglu_tiles, false, true, {{64, 11008, 4096}, {512, 11008, 4096}, {2048, 11008, 4096}, {8192, 11008, 4096}}},
};

struct Options {
  std::string op, json;         // empty: every op; no file
  int rounds = 20, tokens = 0;  // 0: however many a shape has
};

// Returns what is wrong with the arguments, or nothing.
std::string read(int argc, char** argv, Options& o) {
  for (int i = 1; i < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (flag != "--op" && flag != "--tokens" && flag != "--rounds" && flag != "--json")
      return "unknown argument '" + std::string(flag) + "'; known are --op, --tokens, --rounds and --json";
    if (i + 1 == argc) return std::string(flag) + " needs a value";
    const std::string_view value = argv[i + 1];
    if (flag == "--json") o.json = value;
    if (flag == "--op") o.op = value;
    if (flag == "--rounds" || flag == "--tokens") {
      int& number = flag == "--rounds" ? o.rounds : o.tokens;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
      if (error != std::errc{} || end != value.data() + value.size() || number < 1 || number > 100000)
        return std::string(flag) + " is '" + std::string(value) + "'; it may be 1 to 100000";
    }
  }
  if (!o.op.empty() && std::none_of(std::begin(kOps), std::end(kOps), [&](const Op& op) { return o.op == op.name; }))
    return "--op is '" + o.op + "'; it may be linear, gelu_linear or gemm_swiglu";
  return "";
}

// Returns why the device cannot run the tiles, or nothing.
std::string unfit_device() {
  cudaDeviceProp device{};
  if (const cudaError_t error = cudaGetDeviceProperties(&device, 0); error != cudaSuccess)
    return std::string("needs an H100 or H200, and CUDA finds no device: ") + cudaGetErrorString(error);
  if (device.major == 9 && device.minor == 0) return "";
  return std::string("needs an H100 or H200 (sm_90), and this device is ") + device.name + " (sm_" +
         std::to_string(device.major) + std::to_string(device.minor) + ")";
}

void time_in_turns(std::vector<Candidate>& all, int rounds, Clock& clock) {
  for (const Candidate& c : all) {
    c.launch();
    c.launch();
  }
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random(1);
  for (int i = 0; i < rounds; ++i) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t at : order) all[at].times_us.push_back(clock.time_us(all[at].launch));
  }
  for (Candidate& c : all) std::sort(c.times_us.begin(), c.times_us.end());
}

// Prints the library's row first, then the others, the fastest first.
void print(const Op& op, const Shape& s, std::vector<Candidate>& all, std::FILE* json) {
  std::stable_sort(all.begin() + 1, all.end(), [](const auto& a, const auto& b) { return median(a) < median(b); });
  std::printf("  %-24s %12s %12s %8s\n", "candidate", "median us", "p5 us", "ratio");
  for (const Candidate& c : all) {
    const double mid = median(c), low = quantile(c.times_us, 0.05), ratio = median(all[0]) / mid;
    std::printf("  %-24s %12.2f %12.2f %8.3f\n", c.name.c_str(), mid, low, ratio);
    if (json)
      std::fprintf(json,
                   "{\"op\": \"%s\", \"m\": %d, \"n\": %d, \"k\": %d, \"candidate\": \"%s\", \"median_us\": %.3f, "
                   "\"p5_us\": %.3f, \"ratio\": %.4f}\n",
                   op.name, s.m, s.n, s.k, c.name.c_str(), mid, low, ratio);
  }
  std::fflush(stdout);
  if (json) std::fflush(json);
}

// Returns whether all candidates agree with the library.
bool run(const Op& op, const Shape& s, int rounds, Clock& clock, std::FILE* json) {
  const auto m = static_cast<std::size_t>(s.m), n = static_cast<std::size_t>(s.n), k = static_cast<std::size_t>(s.k);
  const std::size_t weights = op.gated ? 2 : 1;
  const Memory x = allocate(2 * m * k), w = allocate(2 * weights * n * k), bias = allocate(2 * n), y = allocate(2 * m * n);
  const Memory reference = allocate(2 * m * n), gate_up = allocate(op.gated ? 4 * m * n : 2);
  fill(x.get(), m * k, 1, 1);
  fill(w.get(), weights * n * k, 2, 1 / std::sqrt(static_cast<float>(s.k)));
  fill(bias.get(), n, 3, 1);

  Library library(s.m, static_cast<int>(weights) * s.n, s.k, op.biased ? bias.get() : nullptr);
  void* const into = op.gated ? gate_up.get() : reference.get();
  library.choose(clock, x.get(), w.get(), into);
  std::vector<Candidate> all = {{"cublaslt", [&] {
                                   library.run(x.get(), w.get(), into);
                                   if (op.gated) silu_mul(gate_up.get(), reference.get(), m, s.n);
                                 }}};
  all[0].launch();

  std::printf("%s m %d n %d k %d\n", op.name, s.m, s.n, s.k);
  bool agree = true;
  void* const up = static_cast<char*>(w.get()) + (op.gated ? 2 * n * k : 0);
  for (Candidate& c : op.candidates({s.m, s.n, s.k, x.get(), w.get(), up, bias.get(), y.get()})) {
    check(cudaMemset(y.get(), 0xFF, 2 * m * n), "cudaMemset");  // NaN
    c.launch();
    if (const auto different = count_different(y.get(), reference.get(), m * n); different != 0) {
      std::printf("  %s differs from cublaslt in %llu of %zu elements\n", c.name.c_str(), different, m * n);
      agree = false;
    } else {
      all.push_back(std::move(c));
    }
  }
  time_in_turns(all, rounds, clock);
  print(op, s, all, json);
  return agree;
}

}  // namespace

int benchmark(int argc, char** argv) {
  Options o;
  std::string wrong = read(argc, argv, o);
  if (wrong.empty()) wrong = unfit_device();
  std::FILE* const json = wrong.empty() && !o.json.empty() ? std::fopen(o.json.c_str(), "w") : nullptr;
  if (wrong.empty() && !o.json.empty() && !json) wrong = "cannot write " + o.json;
  if (!wrong.empty()) {
    std::fprintf(stderr, "tiles: %s.\n", wrong.c_str());
    return 2;
  }
  bool agree = true;
  Clock clock;
  for (const Op& op : kOps)
    for (const Shape& s : op.shapes)
      if ((o.op.empty() || o.op == op.name) && (o.tokens == 0 || o.tokens == s.m))
        agree = run(op, s, o.rounds, clock, json) && agree;
  if (json && std::fclose(json) != 0) throw std::runtime_error("cannot write " + o.json);
  return agree ? 0 : 1;
}

}  // namespace tiles

int main(int argc, char** argv) {
  try {
    return tiles::benchmark(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tiles: %s.\n", e.what());
    return 1;
  }
}
