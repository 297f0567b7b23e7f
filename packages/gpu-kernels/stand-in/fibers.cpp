#include "fibers.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <deque>

#ifndef __x86_64__
#include <ucontext.h>
#endif

namespace stand_in {
namespace {

constexpr size_t kStackBytes = 64 * 1024;

struct Fiber {
  char* stack = nullptr;
  const std::function<void()>* body = nullptr;
  bool ended = false;
#ifdef __x86_64__
  void* pointer = nullptr;
#else
  ucontext_t context;
#endif
};

// Never moves what it has.
std::deque<Fiber> all;
Fiber owner;
Fiber* running = nullptr;

char* new_stack() {
  void* const memory =
      mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  // A stack that overflows faults rather than running into its neighbour.
  mprotect(memory, 4096, PROT_NONE);
  return static_cast<char*>(memory);
}

}  // namespace

#ifdef __x86_64__
// swapcontext makes a system call for each switch, to keep a signal mask that never changes here.
extern "C" void stand_in_switch(void** from, void* to);
asm(R"(
.text
.hidden stand_in_switch
.globl stand_in_switch
.type stand_in_switch, @function
stand_in_switch:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
.size stand_in_switch, .-stand_in_switch
)");

static void change(Fiber& from, Fiber& to) { stand_in_switch(&from.pointer, to.pointer); }
#else
static void change(Fiber& from, Fiber& to) { swapcontext(&from.context, &to.context); }
#endif

void fiber_main() {
  (*running->body)();
  running->ended = true;
  change(*running, owner);
  std::abort();
}

void Fibers::prepare(size_t index, const std::function<void()>* body) {
  if (all.size() <= index) all.resize(index + 1);
  Fiber& fiber = all[index];
  if (fiber.stack == nullptr) fiber.stack = new_stack();
  fiber.body = body;
  fiber.ended = false;
  // Stacks that all begin at a page's end would contend for the same lines of the cache.
  char* const end = fiber.stack + kStackBytes - index % 61 * 64;
#ifdef __x86_64__
  // As if fiber_main had been called: six registers, where to return to, and a stack aligned to 16 + 8.
  auto* const top = reinterpret_cast<uintptr_t*>(end);
  top[-2] = reinterpret_cast<uintptr_t>(fiber_main);
  for (int i = 3; i <= 8; i++) top[-i] = 0;
  fiber.pointer = top - 8;
#else
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack;
  fiber.context.uc_stack.ss_size = static_cast<size_t>(end - fiber.stack);
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, fiber_main, 0);
#endif
}

void Fibers::resume(size_t fiber) {
  running = &all[fiber];
  change(owner, *running);
}

void Fibers::yield() { change(*running, owner); }

bool Fibers::has_ended(size_t fiber) const { return all[fiber].ended; }

Fibers& fibers() {
  static Fibers only;
  return only;
}

}  // namespace stand_in
