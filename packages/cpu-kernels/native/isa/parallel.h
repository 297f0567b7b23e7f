// How operations divide their work among a device's threads.
#pragma once

#include "simd.h"

#define HETEROSGD_MEMBER inline __attribute__((always_inline))

namespace heterosgd {
namespace {

// Calls work(thread) on every thread of the pool and waits for all.
template <class Work>
HETEROSGD_INLINE void parallel(ThreadPool& pool, Work&& work) {
  struct Context {
    Work& work;
  } context{work};
  pool.run([](void* c, size_t thread) { static_cast<Context*>(c)->work(thread); }, &context);
}

// Whether so many products and sums in the first layer are worth waking another thread for: below
// about ten microseconds of work its help is over before it has begun.
HETEROSGD_INLINE bool is_worth_sharing(size_t products) { return products >= size_t{1} << 17; }

// The part of `count` things, in multiples of `unit`, that one thread takes.
struct Range {
  size_t begin;
  size_t end;
};

HETEROSGD_INLINE Range share(size_t count, size_t unit, size_t thread, size_t threads) {
  const size_t units = (count + unit - 1) / unit;
  const size_t begin = units * thread / threads * unit;
  const size_t end = units * (thread + 1) / threads * unit;
  return {least(begin, count), least(end, count)};
}

// The rows that one thread takes, so that all have about equally many non-zeros.
HETEROSGD_LOCAL Range share_rows(const Batch& batch, size_t thread, size_t threads) {
  const uint32_t first = batch.offsets[0];
  // A row costs about as much as two non-zeros besides its own.
  const auto work_before = [&](size_t row) {
    return size_t{batch.offsets[row]} - first + 2 * row;
  };
  const size_t total = work_before(batch.rows);
  const auto boundary = [&](size_t part) {
    size_t low = 0;
    size_t high = batch.rows;
    while (low < high) {
      const size_t middle = (low + high) / 2;
      if (work_before(middle) < total * part / threads) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  const size_t begin = thread == 0 ? 0 : boundary(thread);
  return {begin, thread + 1 == threads ? batch.rows : boundary(thread + 1)};
}

// Columns are worked on in chunks, which stay in registers while rows pass by: up to eight vectors,
// then what is left of whole vectors, then a part of one.
constexpr size_t kChunkVectors = 8;

template <int kValue>
struct Constant {
  static constexpr int value = kValue;
};

// Calls body(Constant<vectors>, first column, elements) chunk by chunk; the number of vectors is 0
// for a part of one.
template <class Body>
HETEROSGD_INLINE void for_chunks(Range columns, Body&& body) {
  size_t c = columns.begin;
  for (; c + kChunkVectors * kLanes <= columns.end; c += kChunkVectors * kLanes) {
    body(Constant<kChunkVectors>{}, c, kChunkVectors * kLanes);
  }
  const size_t whole = (columns.end - c) / kLanes * kLanes;
  switch (whole / kLanes) {
    case 1: body(Constant<1>{}, c, whole); break;
    case 2: body(Constant<2>{}, c, whole); break;
    case 3: body(Constant<3>{}, c, whole); break;
    case 4: body(Constant<4>{}, c, whole); break;
    case 5: body(Constant<5>{}, c, whole); break;
    case 6: body(Constant<6>{}, c, whole); break;
    case 7: body(Constant<7>{}, c, whole); break;
  }
  c += whole;
  if (c < columns.end) body(Constant<0>{}, c, columns.end - c);
}

// Vectors of a chunk: kVectors whole ones, or one with `count` elements if kVectors is 0.
template <int kVectors>
struct Chunk {
  static constexpr size_t size = kVectors == 0 ? 1 : kVectors;
  V v[size];

  HETEROSGD_MEMBER void load(const float* from, size_t count) {
    if (kVectors == 0) v[0] = ld_part(from, count);
    for (int i = 0; i < kVectors; i++) v[i] = ld(from + i * kLanes);
  }
  HETEROSGD_MEMBER void store(float* to, size_t count) const {
    if (kVectors == 0) st_part(to, v[0], count);
    for (int i = 0; i < kVectors; i++) st(to + i * kLanes, v[i]);
  }
  HETEROSGD_MEMBER void clear() {
    for (size_t i = 0; i < size; i++) v[i] = V{};
  }
  // this += x * other
  HETEROSGD_MEMBER void add(float x, const Chunk& other) {
    const V factor = splat(x);
    for (size_t i = 0; i < size; i++) v[i] = fma(factor, other.v[i], v[i]);
  }
};

// Asks for the cache lines of a chunk that will be needed soon, into the second cache: the first
// can wait for a few lines only, which was 2.4 times slower here (24 rows of 512 bytes ahead,
// anywhere in 400 MB).
template <int kVectors, int kForWrite>
HETEROSGD_INLINE void prefetch(const float* from) {
  constexpr size_t bytes = Chunk<kVectors>::size * kLanes * sizeof(float);
  for (size_t i = 0; i < bytes; i += 64) {
    __builtin_prefetch(reinterpret_cast<const char*>(from) + i, kForWrite, 2);
  }
}

}  // namespace
}  // namespace heterosgd
