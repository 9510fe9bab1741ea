// SPDX-License-Identifier: Apache-2.0
// A worker: the process in which candidates run, so that a crash or a hang does not end the judge.  It is the same program,
// started as `validate worker BACKEND [PLUGIN]`.
#pragma once

#include <functional>
#include <memory>

#include "validate/worker/backend.hpp"
#include "validate/worker/listing.hpp"

namespace assay {

// Answers questions and serves orders until the socket closes.  Returns the process's exit code: 0, kMachineFailed or
// kSocketLost.  `about`: what it says of itself.  `load` loads kernels, if they are not the built-in ones, when the first message
// has come.
int serve(const Listing& about, const std::function<void()>& load, const std::function<std::unique_ptr<Backend>()>& open_backend);

}  // namespace assay
