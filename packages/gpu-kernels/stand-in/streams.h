/**
 * Streams and events. Operations wait in their stream's queue until something needs them done, so that
 * whatever relies on an order that it did not ask for shows.
 */
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "driver-types.h"

namespace stand_in {

/** What operations are told apart by: STREAMS, and the count of uploads beside kernels. */
enum class Kind { kFromHost, kKernel, kOther };

class Stream {
 public:
  void add(Kind kind, std::function<CUresult()> operation) {
    waiting_.push_back({kind, std::move(operation)});
  }
  /** How many operations were ever added. */
  uint64_t end() const { return done_ + waiting_.size(); }
  bool is_done(uint64_t end) const { return done_ >= end; }
  /** Whether a kernel waits to be run. */
  bool has_kernel() const;
  /** Does all up to the given one, in order, until one fails. */
  CUresult run(uint64_t end);

 private:
  struct Operation {
    Kind kind;
    std::function<CUresult()> run;
  };
  std::deque<Operation> waiting_;
  uint64_t done_ = 0;
};

/** A place in a stream, as recorded last. */
struct Event {
  std::shared_ptr<Stream> stream;
  uint64_t end = 0;
  /** By cuEventQuery, since it was recorded. */
  bool was_asked = false;
};

}  // namespace stand_in
