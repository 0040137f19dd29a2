//! Explanations of C and C++.

use super::harness::{explained_symbol, told};

pub(super) const BUFFER: &str = r#"/* A buffer of bytes. */
#include <stdlib.h>
#include "buffer.h"

#define GROWTH 2

/**
 * @brief Appends bytes to a buffer.
 *
 * @param[in,out] buffer the buffer
 * @param bytes what is appended
 * \param length how many bytes these are
 * @return 0, or -1 if memory is exhausted
 */
int buffer_append(buffer_ref buffer, bytes_ref bytes, size_t length)
{
    size_t i, needed = buffer->length + length;
    if (!buffer || !bytes)
        return -1;
    while (buffer->capacity < needed)
        buffer->capacity *= GROWTH;
    buffer->data = realloc(buffer->data, buffer->capacity);
    if (buffer->data == NULL) {
        buffer->capacity = 0;
        goto failed;
    }
    for (i = 0; i < length; i++)
        buffer->data[buffer->length++] = bytes[i];
    switch (length) {
    case 0:
    case 1:
        trace("short");
        break;
    default:
        trace("long");
    }
#ifdef DEBUG
    trace("done");
#endif
    return 0;
failed:
    free(buffer);
    return -1;
}
"#;

pub(super) const POOL: &str = r#"#include <mutex>
namespace shop {
/// Runs tasks.
class Pool {
 public:
  /// Runs a task and waits for it.
  /// \tparam T the type of the result
  /// \param task what is run
  /// \returns what the task returns
  int run(const std::function<int()>& task);
};

int Pool::run(const std::function<int()>& task) {
  std::lock_guard<std::mutex> guard(mutex_);
  auto started = now();
  try {
    for (const auto& observer : observers_) observer->started();
    return task();
  } catch (const std::exception& error) {
    throw PoolError(error.what());
  } catch (...) {
    throw;
  }
}
}
"#;

#[test]
fn a_function_of_c_is_explained() {
    let found = explained_symbol("src/buffer.c", BUFFER, "buffer_append");
    assert_eq!(
        told(&found),
        r#"`buffer_append` is a function. Appends bytes to a buffer. It returns `int`. It calls `realloc`, `trace` and `free`.
  Declares `size_t i, needed = buffer->length + length`.
  Returns `-1` if `!buffer || !bytes`.
  While `buffer->capacity < needed`: applies `buffer->capacity *= GROWTH`.
  Sets `buffer->data` to `realloc(buffer->data, buffer->capacity)`.
  If `buffer->data == NULL`, sets `buffer->capacity` to `0`, then jumps to `failed`.
  Loops with `i = 0; i < length; i++`: sets `buffer->data[buffer->length++]` to `bytes[i]`.
  Chooses by the value of `length`:
  - For `0` or `1`, calls `trace("short")`.
  - In all other cases, calls `trace("long")`.
  When it is compiled, if `DEBUG` is set, calls `trace("done")`.
  Returns `0`.
  At the label `failed`: calls `free(buffer)`.
  Returns `-1`.
in buffer: buffer_ref | The buffer.
in bytes: bytes_ref | What is appended.
in length: size_t | How many bytes these are.
success: 0, or -1 if memory is exhausted. Returns `int`: `-1` or `0`.
failure: Does not fail by itself.
uses: GROWTH (line 5), buffer.h
"#
    );
}

#[test]
fn a_method_of_cpp_is_explained_where_it_is_declared_and_where_it_is_defined() {
    let found = explained_symbol("src/pool.cpp", POOL, "run");
    assert_eq!(
        told(&found),
        r#"`run` is a method of `Pool`. Runs a task and waits for it. It returns `int`. It is declared here without a body.
in task: const std::function<int()>& | What is run.
success: What the task returns. Returns `int`.
failure: Does not fail by itself.
uses: 
"#
    );
    let found = super::harness::explained("src/pool.cpp", POOL, Some((13, 24)));
    assert_eq!(
        told(&found),
        r#"`run` is a method of `Pool`. It returns `int`. It calls `now`, `started`, `task`, `PoolError` and `what`.
  Declares `std::lock_guard<std::mutex> guard(mutex_)`.
  Sets `started` to `now()`.
  Tries the following:
  - For each `observer` of `observers_`: calls `observer->started()`.
  - Returns `task()`.
  On `const std::exception& error`, throws `PoolError(error.what())`.
  On any failure, throws the handled exception again.
in task: const std::function<int()>& | 
success: Returns `int`: `task()`.
failure: Throws `PoolError(error.what())`. Throws the handled exception again.
uses: mutex
"#
    );
}
