#include "streams.h"

#include <utility>

namespace stand_in {

CUresult Stream::run(uint64_t end) {
  while (done_ < end && !waiting_.empty()) {
    // What it does may need this stream again: it is taken out first.
    const auto operation = std::move(waiting_.front());
    waiting_.pop_front();
    done_++;
    const CUresult result = operation();
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

}  // namespace stand_in
