// Threads that share one operation's work: the caller and its own, which sleep between operations.
#pragma once

#include <cstddef>

namespace heterosgd {

// Nothing here is inline: a function compiled with one instruction set's flags could be linked into
// all.
class ThreadPool {
 public:
  using Function = void (*)(void* context, size_t thread);

  // `threads` counts the caller. The others are started at once and joined by the destructor.
  explicit ThreadPool(size_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  size_t threads() const;
  // Whether the system gave all threads. If not, nothing may be run.
  bool ok() const;

  // Calls function(context, thread) for every thread below `threads()`, 0 on the caller, and
  // returns when all have returned. What the caller wrote before is seen by all, and the other way
  // round. Only one run at a time, and not from within a run.
  void run(Function function, void* context);

  // Within a run: waits until every thread has called this equally often. Spins for
  // a while, then sleeps, so that threads that share a processor with others lose little time.
  void barrier();

 private:
  struct State;
  static void work(State* state, size_t thread);
  State* state_;
  size_t threads_;
  bool ok_;
};

}  // namespace heterosgd
