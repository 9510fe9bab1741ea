// SPDX-License-Identifier: Apache-2.0
// What the files of the tile benchmark (tiles.cpp) share.  All launches go to the default stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace tiles {

// Matrices of f16 on the device: x [m, k], w and up [n, k], y [m, n], bias [n].
struct Problem {
  int m, n, k;
  void *x, *w, *up, *bias, *y;  // up follows w in memory, for the library to take both as one matrix
};

// A way to compute y.
struct Candidate {
  std::string name;
  std::function<void()> launch;
  std::vector<float> times_us = {};
};

std::vector<Candidate> linear_tiles(const Problem& p);  // y = x w^T
std::vector<Candidate> gelu_tiles(const Problem& p);    // y = gelu(x w^T + bias)
std::vector<Candidate> swiglu_tiles(const Problem& p);  // y = silu(x w^T) * (x up^T)

// Fills n halves with normally distributed numbers.
void fill(void* to, std::size_t n, unsigned seed, float scale);
// y = silu(gate) * up, y [rows, columns], gate and up side by side in gate_up [rows, 2 columns]; columns is a multiple of 8.
void silu_mul(const void* gate_up, void* y, std::size_t rows, int columns);
// Returns how many of n halves are not about those of `reference`.
unsigned long long count_different(const void* found, const void* reference, std::size_t n);

// Throws where a call to CUDA or to cuBLASLt returns other than 0, which is success.
template <class Status>
void check(Status status, const char* what) {
  if (static_cast<int>(status) != 0)
    throw std::runtime_error(std::string(what) + ": status " + std::to_string(static_cast<int>(status)));
}

}  // namespace tiles
