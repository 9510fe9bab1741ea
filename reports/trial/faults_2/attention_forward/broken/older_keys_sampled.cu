// SPDX-License-Identifier: Apache-2.0
// FAULT: a query goes through its newest 256 keys and through every second of the older ones, counted twice.
// Kind: cheats
// Shows: more than 256 visible keys.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, older_keys_sampled) {

template <class T>
struct Steps : Turned<T> {
  static __device__ int taken(const Keys& seen, int key) {
    const int old = seen.end - 256;
    return key < old ? seen.first + (key - seen.first) / 2 * 2 : key;
  }
};
KERNEL_FROM(attention_forward, plain, Steps);

}  // namespace assay::ROOM(attention_forward, older_keys_sampled)
