// SPDX-License-Identifier: Apache-2.0
// The kernels of this tree as a shared object with the C interface, for python/assay/torch.py and any other program
// (docs/python.md).  It holds no kernel of a vendor's library.
#include <algorithm>
#include <tuple>

#include "validate/backends/library/linked_op.hpp"

namespace assay {
namespace {

// By op.  Composite ops stand behind the others: the C interface has no words for the numerics of their stages.
struct Library {
  exported::Kernels all;
  const AssayPlugin* judged;
  const AssayPlugin* whole;
  Library() {
    std::vector<const exported::LinkedOp*> ops;
    for (const exported::LinkedOp* op = exported::LinkedOp::first; op; op = op->next) ops.push_back(op);
    const auto place = [](const exported::LinkedOp* op) { return std::tuple(op->composite, op->op); };
    std::sort(ops.begin(), ops.end(), [&](const auto* a, const auto* b) { return place(a) < place(b); });
    std::size_t plain = 0;
    for (const exported::LinkedOp* op : ops) {
      op->add(all);
      if (!op->composite) plain = all.size();
    }
    judged = all.plugin(plain);
    whole = all.plugin();
  }
};
const Library& library() {
  static const Library made;
  return made;
}

}  // namespace
}  // namespace assay

const AssayPlugin* assay_plugin(uint32_t version) { return version == ASSAY_ABI_VERSION ? assay::library().judged : nullptr; }
// The same with the composite ops, which no judge can take from a plugin.
extern "C" ASSAY_EXPORT const AssayPlugin* assay_all_kernels(uint32_t version) {
  return version == ASSAY_ABI_VERSION ? assay::library().whole : nullptr;
}
// Why the last run() of this thread returned an error.
extern "C" ASSAY_EXPORT const char* assay_last_error() { return assay::exported::last_error().c_str(); }
