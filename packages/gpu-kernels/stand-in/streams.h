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

class Stream {
 public:
  void add(std::function<CUresult()> operation) { waiting_.push_back(std::move(operation)); }
  /** How many operations were ever added. */
  uint64_t end() const { return done_ + waiting_.size(); }
  bool is_done(uint64_t end) const { return done_ >= end; }
  /** Does all up to the given one, in order, until one fails. */
  CUresult run(uint64_t end);

 private:
  std::deque<std::function<CUresult()>> waiting_;
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
