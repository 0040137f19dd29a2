//! Explanations of Go.

use super::harness::{explained_symbol, told};

pub(super) const STORE: &str = r#"// Package store keeps orders.
//
//	s := store.Open("orders")
//	defer s.Close()
package store

import (
	"errors"
	"fmt"
	"sync"
)

// ErrClosed is returned by a closed store.
var ErrClosed = errors.New("closed")

const (
	small = 1
	large = 2
)

// Store keeps orders in memory.
type Store struct {
	mu     sync.Mutex
	orders map[string]int
	closed bool
}

// Put adds orders. It returns how many the store has.
//
// For example:
//
//	n, err := s.Put("emma")
func (s *Store) Put(names ...string) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, ErrClosed
	}
	for i, name := range names {
		if name == "" {
			return i, fmt.Errorf("order %d has no name", i)
		}
		s.orders[name]++
	}
	if err := s.flush(); err != nil {
		return 0, err
	}
	switch n := len(s.orders); {
	case n > 10, n < 0:
		go s.flush()
	default:
		fmt.Println("few")
	}
	return len(s.orders), nil
}

func (s *Store) flush() error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for name := range s.orders {
			fmt.Println(name, "is written to the disk of the store, one order after the other")
		}
	}()
	select {
	case <-done:
		return nil
	}
}
"#;

#[test]
fn a_method_is_explained_with_its_errors() {
    let found = explained_symbol("store/store.go", STORE, "Put");
    assert_eq!(
        told(&found),
        r#"`Put` is a method of `Store`. Put adds orders. It returns how many the store has. It returns `(int, error)`. It calls `Lock`, `Unlock`, `Errorf`, `flush` and `Println`.
  Calls `s.mu.Lock()`.
  Defers `s.mu.Unlock()` until the function returns.
  Returns `0, ErrClosed` if `s.closed`.
  For each `i, name` of `names`: returns `i, fmt.Errorf("order %d has no name", i)` if `name == ""`, then increments `s.orders[name]`.
  After `err := s.flush()`, returns `0, err` if `err != nil`.
  Takes the first case that holds:
  - For `n > 10, n < 0`, starts `s.flush()` concurrently.
  - In all other cases, calls `fmt.Println("few")`.
  Returns `len(s.orders), nil`.
in names: string | 
success: Returns `(int, error)`: `len(s.orders), nil`.
failure: Returns `0, ErrClosed`, `i, fmt.Errorf("order %d has no name", i)` and `0, err`.
uses: ErrClosed (line 14), Store.flush (line 57), fmt
"#
    );
}

#[test]
fn goroutines_and_channels_are_explained() {
    let found = explained_symbol("store/store.go", STORE, "flush");
    assert_eq!(
        told(&found),
        r#"`flush` is a method of `Store`. It returns `error`. It calls `close` and `Println`.
  Sets `done` to `make(chan struct{})`.
  Starts, concurrently:
  - Defers `close(done)` until the function returns.
  - For each `name` of `s.orders`: calls `fmt.Println(name, "is written to the disk of the store, one order after the other")`.
  Waits for the first of these:
  - For `<-done`, returns `nil`.
success: Returns `error`: `nil`.
failure: Does not fail by itself.
uses: fmt
"#
    );
}
