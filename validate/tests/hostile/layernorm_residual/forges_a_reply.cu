// SPDX-License-Identifier: Apache-2.0
// HOSTILE: sends a reply of its own, well formed, before the worker's.
// Expected: crashed: the worker answered another order than its last.
#include <sys/socket.h>

#include <string_view>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, forges_a_reply) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  const std::string_view reply = R"({"id":987654321,"status":0,"ran":2,"message":"","tainted":false,"seconds":0.0,"traffic":{}})";
  answer(a, l);
  ::send(3, reply.data(), reply.size(), MSG_NOSIGNAL);
}

}  // namespace assay::ROOM(layernorm_residual, forges_a_reply)
