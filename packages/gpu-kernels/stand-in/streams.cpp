#include "streams.h"

#include <utility>

namespace stand_in {

CUresult Stream::run(uint64_t end) {
  while (done_ < end && !waiting_.empty()) {
    // What it does may need this stream again: it is taken out first.
    const auto operation = std::move(waiting_.front());
    waiting_.pop_front();
    done_++;
    const CUresult result = operation.run();
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

bool Stream::has_kernel() const {
  for (const Operation& operation : waiting_) {
    if (operation.kind == Kind::kKernel) return true;
  }
  return false;
}

}  // namespace stand_in
