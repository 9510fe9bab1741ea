// SPDX-License-Identifier: Apache-2.0
// FAULT: the output goes in packs of four, and the last pack of a row is read and written whole: up to three elements beyond
// the row.
// Caught by: the guards (and out_of_bounds on simt), any fill with cols % 4 != 0 in a layout whose rows are aligned.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, out_of_bounds_tail) {

template <class T>
struct Wrong : Plain<T> {
  static Legality supports(const layernorm_residual::Args& a) {
    const int access = 4 * size_of(a.x.dtype);
    for (const Tensor* t : {&a.x, &a.residual, &a.gamma, &a.beta, &a.y})
      if (!t->rows_aligned(access)) return Legality::no("rows must start at a multiple of four elements");
    return Legality::yes();
  }
  template <class F>
  __device__ static void write(const Rows<T>& m, float mean, float r) {
    using Pack = Vec<T, 4>;
    const auto pack = [](const T* row, std::int64_t c) { return ld(reinterpret_cast<const Pack*>(row + c)); };
    for (std::int64_t c = 4 * threadIdx.x; c < m.cols; c += 4 * kPlainThreads) {
      const Pack in = pack(m.x, c), add = pack(m.residual, c), scale = pack(m.gamma, c), shift = pack(m.beta, c);
      Pack out;
      for (int i = 0; i < 4; ++i) {
        const float normalised = fmaf((to_float(in[i]) - mean) * r, to_float(scale[i]), to_float(shift[i]));
        out[i] = from_float<T>(normalised + to_float(add[i]));
      }
      st(reinterpret_cast<Pack*>(m.y + c), out);
    }
  }
};
KERNEL_FROM(layernorm_residual, plain, Wrong);

}  // namespace assay::ROOM(layernorm_residual, out_of_bounds_tail)
