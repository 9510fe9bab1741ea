// SPDX-License-Identifier: Apache-2.0
// FAULT: the mean of up to 64 losses is made by plain C++ in the launcher, which reads and writes what is device memory.
// Caught by: T4, on up to 64 tokens: device memory is closed to the host, and the worker dies.
#include "cuda/cross_entropy/broken/plain.cuh"

namespace assay::ROOM(cross_entropy, mean_on_the_host) {

template <class T>
struct Wrong : Plain<T> {
  static void mean(const cross_entropy::Args& a, const Launch& l) {
    if (a.loss.size() > 64) return launch_mean(a, l);
    double sum = 0;
    for (std::int64_t t = 0; t < a.loss.size(); ++t) sum += a.loss.at(t);
    a.mean.set(0, sum / static_cast<double>(a.loss.size()));
  }
};
KERNEL_FROM(cross_entropy, plain, Wrong);

}  // namespace assay::ROOM(cross_entropy, mean_on_the_host)
