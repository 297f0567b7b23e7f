#include "thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <new>
#include <thread>

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#else
#include <condition_variable>
#include <mutex>
#endif
#if !defined(_WIN32)
#include <csignal>
#endif

namespace heterosgd {

namespace {

#if !defined(_WIN32)
// Changes the calling thread's mask. On Linux sigprocmask does that too, and needs no C library as
// new as pthread_sigmask does where this is built.
void set_signal_mask(int how, const sigset_t* mask, sigset_t* before) {
#if defined(__linux__)
  sigprocmask(how, mask, before);
#else
  pthread_sigmask(how, mask, before);
#endif
}
#endif

using Clock = std::chrono::steady_clock;
using Nanoseconds = std::chrono::nanoseconds;

// How long to look before sleeping. The least is about the time from one operation's end to the
// next one's start in a training step, the most is about what a wake-up costs on a virtual machine.
// Between them a gate goes by what its last waits would have needed: where threads share a
// processor with others, looking longer does not help.
constexpr int64_t kLeastSpin = 10000;
constexpr int64_t kMostSpin = 100000;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

#if defined(__linux__)
// FUTEX_WAIT_PRIVATE and FUTEX_WAKE_PRIVATE of <linux/futex.h>, which musl's systems lack where the
// kernel's headers were not installed.
constexpr int kFutexWait = 128;
constexpr int kFutexWake = 129;
#endif

// A number that threads wait on to change, as std::atomic::wait of C++20.
class alignas(64) Gate {
 public:
  uint32_t load() const { return value_.load(std::memory_order_acquire); }

  void wait_while(uint32_t old) {
    const auto start = Clock::now();
    const auto waited = [&] { return Nanoseconds(Clock::now() - start).count(); };
    const int64_t spin = spin_.load(std::memory_order_relaxed);
    int64_t time = 0;
    do {
      for (int i = 0; i < 32; i++) {
        if (load() != old) return;
        pause();
      }
      time = waited();
      // Whoever is waited for may need this processor.
      if (time > kLeastSpin) std::this_thread::yield();
    } while (time < spin);
    sleepers_.fetch_add(1);
    while (value_.load() == old) sleep(old);
    sleepers_.fetch_sub(1);
    const int64_t next = waited() < kMostSpin ? spin * 2 : spin / 2;
    spin_.store(std::min(std::max(next, kLeastSpin), kMostSpin), std::memory_order_relaxed);
  }

  void advance() {
#if !defined(__linux__)
    std::lock_guard<std::mutex> lock(mutex_);
#endif
    value_.fetch_add(1);
    // Sequentially consistent, as in wait_while: either the sleeper's count is seen here, or the
    // new value there.
    if (sleepers_.load() != 0) wake();
  }

 private:
#if defined(__linux__)
  void sleep(uint32_t old) {
    syscall(SYS_futex, &value_, kFutexWait, old, nullptr, nullptr, 0);
  }
  void wake() { syscall(SYS_futex, &value_, kFutexWake, INT32_MAX, nullptr, nullptr, 0); }
#else
  void sleep(uint32_t old) {
    std::unique_lock<std::mutex> lock(mutex_);
    condition_.wait(lock, [&] { return load() != old; });
  }
  void wake() { condition_.notify_all(); }
  std::mutex mutex_;
  std::condition_variable condition_;
#endif
  std::atomic<uint32_t> value_{0};
  std::atomic<uint32_t> sleepers_{0};
  std::atomic<int64_t> spin_{kMostSpin};
};

}  // namespace

struct ThreadPool::State {
  Gate start;
  Gate done;
  Gate barrier;
  alignas(64) std::atomic<size_t> running{0};
  alignas(64) std::atomic<size_t> arrived{0};
  size_t threads = 1;
  bool stop = false;
  Function function = nullptr;
  void* context = nullptr;
  std::thread* own = nullptr;
};

void ThreadPool::work(State* state, size_t thread) {
  uint32_t seen = 0;
  for (;;) {
    state->start.wait_while(seen);
    seen++;
    if (state->stop) return;
    state->function(state->context, thread);
    if (state->running.fetch_sub(1) == 1) state->done.advance();
  }
}

ThreadPool::ThreadPool(size_t threads) : state_(nullptr), threads_(threads), ok_(true) {
  if (threads <= 1) return;
  state_ = new (std::nothrow) State;
  if (state_ != nullptr) state_->own = new (std::nothrow) std::thread[threads - 1];
  ok_ = state_ != nullptr && state_->own != nullptr;
  if (!ok_) return;
  state_->threads = threads;
#if !defined(_WIN32)
  // Signals are the host's: its own threads take them.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  set_signal_mask(SIG_SETMASK, &all, &before);
#endif
  for (size_t i = 1; i < threads && ok_; i++) {
    try {
      state_->own[i - 1] = std::thread(work, state_, i);
    } catch (...) {
      // No thread (std::system_error), or no memory for one (std::bad_alloc).
      ok_ = false;
    }
  }
#if !defined(_WIN32)
  set_signal_mask(SIG_SETMASK, &before, nullptr);
#endif
}

ThreadPool::~ThreadPool() {
  if (state_ == nullptr) return;
  if (state_->own != nullptr) {
    state_->stop = true;
    state_->start.advance();
    for (size_t i = 0; i + 1 < threads_; i++) {
      if (state_->own[i].joinable()) state_->own[i].join();
    }
    delete[] state_->own;
  }
  delete state_;
}

size_t ThreadPool::threads() const { return threads_; }
bool ThreadPool::ok() const { return ok_; }

void ThreadPool::run(Function function, void* context) {
  if (threads_ <= 1) {
    function(context, 0);
    return;
  }
  state_->function = function;
  state_->context = context;
  state_->running.store(threads_ - 1);
  const uint32_t before = state_->done.load();
  state_->start.advance();
  function(context, 0);
  state_->done.wait_while(before);
}

void ThreadPool::barrier() {
  if (threads_ <= 1) return;
  const uint32_t before = state_->barrier.load();
  if (state_->arrived.fetch_add(1) + 1 == threads_) {
    state_->arrived.store(0);
    state_->barrier.advance();
    return;
  }
  state_->barrier.wait_while(before);
}

}  // namespace heterosgd
