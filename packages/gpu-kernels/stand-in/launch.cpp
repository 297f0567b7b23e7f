#include "launch.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "fibers.h"
#include "settings.h"

// The linker's, for the section of which emulation.h makes shared memory; null if no kernel has any.
extern "C" char __start_block_shared[] __attribute__((weak, visibility("hidden")));
extern "C" char __stop_block_shared[] __attribute__((weak, visibility("hidden")));

namespace stand_in {

Index thread_index, block_index, block_size, grid_size;

namespace {

/** The line of the barrier at which the running work item waits. */
int barrier_line = 0;

sigjmp_buf fault_return;
volatile int fault_signal = 0;
pthread_t launching_thread;
struct sigaction before_segv, before_bus, before_fpe;

void on_fault(int signal, siginfo_t* info, void* context) {
  if (pthread_equal(pthread_self(), launching_thread)) {
    fault_signal = signal;
    siglongjmp(fault_return, 1);
  }
  // Another thread's, none of a kernel: whoever was there before deals with it.
  const struct sigaction& before =
      signal == SIGSEGV ? before_segv : signal == SIGBUS ? before_bus : before_fpe;
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  } else {
    sigaction(signal, &before, nullptr);
  }
}

/** Faults of this thread are a kernel's while this lives. */
class FaultGuard {
 public:
  FaultGuard() {
    launching_thread = pthread_self();
    // A fiber whose stack has overflowed has no room for the handler.
    static char memory[64 * 1024];
    stack_t own = {};
    own.ss_sp = memory;
    own.ss_size = sizeof memory;
    sigaltstack(&own, &stack_before_);
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, &before_segv);
    sigaction(SIGBUS, &action, &before_bus);
    sigaction(SIGFPE, &action, &before_fpe);
  }
  ~FaultGuard() {
    sigaction(SIGSEGV, &before_segv, nullptr);
    sigaction(SIGBUS, &before_bus, nullptr);
    sigaction(SIGFPE, &before_fpe, nullptr);
    sigaltstack(&stack_before_, nullptr);
  }

 private:
  stack_t stack_before_;
};

/** Brings 0 … order.size() − 1 into the order that is set. `shuffled` differs from call to call. */
void arrange(std::vector<unsigned>& order) {
  static std::mt19937 random(1);
  std::iota(order.begin(), order.end(), 0u);
  if (settings().order == Order::kBackward) std::reverse(order.begin(), order.end());
  if (settings().order == Order::kShuffled) std::shuffle(order.begin(), order.end(), random);
}

/** An item that waits at a barrier, in its fiber. */
struct Waiting {
  unsigned item;
  size_t fiber;
};

/** A block under way. */
struct Block {
  /** In the order in which they begin. */
  std::vector<unsigned> items;
  /** How many of them have begun, and ended. */
  size_t begun, ended;
  unsigned running;
  std::vector<Waiting> waiting;
};
Block block;

void become(unsigned item) {
  block.running = item;
  thread_index = {item % block_size.x, item / block_size.x, 0};
}

/** What a fiber does: items one after another, so that only those that meet a barrier take one each. */
void run_items(const std::function<void()>& work_item) {
  while (block.begun < block.items.size()) {
    become(block.items[block.begun++]);
    work_item();
    block.ended++;
  }
}

/** Resumes a fiber; keeps it if it waits. Returns whether it waits where the others do. */
bool advance(size_t fiber, int* line) {
  fibers().resume(fiber);
  if (fibers().has_ended(fiber)) return true;
  block.waiting.push_back({block.running, fiber});
  if (*line == 0) *line = barrier_line;
  return *line == barrier_line;
}

/** Runs all items from barrier to barrier. Returns whether they all met at each. */
bool run_block(const std::function<void()>& body) {
  arrange(block.items);
  block.begun = block.ended = 0;
  block.waiting.clear();
  int line = 0;
  for (size_t fiber = 0; block.begun < block.items.size(); fiber++) {
    fibers().prepare(fiber, &body);
    if (!advance(fiber, &line)) return false;
  }
  static std::vector<unsigned> order;
  static std::vector<Waiting> round;
  while (!block.waiting.empty()) {
    if (block.ended != 0) return false;
    round.swap(block.waiting);
    block.waiting.clear();
    order.resize(round.size());
    arrange(order);
    line = 0;
    for (const unsigned i : order) {
      become(round[i].item);
      if (!advance(round[i].fiber, &line)) return false;
    }
  }
  return true;
}

}  // namespace

void wait_at_barrier(int line) {
  barrier_line = line;
  fibers().yield();
}

CUresult run_grid(const std::function<void()>& work_item, Index grid, Index size) {
  grid_size = grid;
  block_size = size;
  block.items.resize(size_t{size.x} * size.y);
  static std::vector<unsigned> block_order;
  block_order.resize(size_t{grid.x} * grid.y);
  arrange(block_order);
  const std::function<void()> body = [&work_item] { run_items(work_item); };

  const FaultGuard guard;
  if (sigsetjmp(fault_return, 1) != 0) {
    return fault_signal == SIGFPE ? CUDA_ERROR_LAUNCH_FAILED : CUDA_ERROR_ILLEGAL_ADDRESS;
  }
  for (const unsigned number : block_order) {
    block_index = {number % grid.x, number / grid.x, 0};
    // Neither zeros nor what the block before has left may be relied on.
    std::memset(__start_block_shared, 0xff,
                static_cast<size_t>(__stop_block_shared - __start_block_shared));
    if (!run_block(body)) return CUDA_ERROR_LAUNCH_FAILED;
  }
  return CUDA_SUCCESS;
}

}  // namespace stand_in
