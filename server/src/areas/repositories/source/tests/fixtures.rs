//! A file in each language, with what outlines are about.

pub(super) const RUST_FILE: &str = r##"//! Counters of requests.

use std::collections::{BTreeMap, HashMap as Map};
use std::fmt::{self, Display};
mod inner;

/// Counts requests.
///
/// Wraps at the maximum.
#[derive(Debug)]
pub struct Counter<T> {
    /// The value.
    pub value: u64,
    limits: Limits<T>,
}

impl<T: Clone> Counter<T> {
    /// Adds `n` to the counter.
    pub fn add(&mut self, n: u64, by: &str) -> Result<u64, Overflow> {
        let next = self.value.checked_add(n).ok_or(Overflow)?;
        helper::<T>(next);
        log!("added");
        Ok(next)
    }
    fn private(self) {}
}

impl<T> Display for Counter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str("x") }
}

pub enum Kind { First, Second(u8) }
pub trait Reset { fn reset(&mut self); }
const MAX: u64 = 10;
macro_rules! square { ($x:expr) => { $x * $x }; }

#[cfg(test)]
mod tests {
    #[test]
    fn adds() { assert_eq!(super::Counter::new().add(1), Ok(1)); }
}
"##;

pub(super) const PYTHON_FILE: &str = r##""""Stores users.

Second paragraph.
"""
import os.path
from typing import Optional, List as L

MAX_USERS = 10
_cache = {}


class Store(Base, abc.ABC):
    """Keeps users in memory."""

    limit: int = 5

    def __init__(self, path: str, *, size=10, **options):
        self.path = path

    @property
    def size(self) -> int:
        """Return the number of users."""
        return len(self.users)

    async def find(self, name: Optional[str]) -> "User":
        # A comment.
        return await query(name)


def test_find():
    def nested():
        pass
    assert Store("x").find("a")
"##;

pub(super) const TYPESCRIPT_FILE: &str = r##"// Copyright 2020 Somebody. All rights reserved.

import { a, b as c } from './util';
import * as fs from 'fs';
const path = require('path');

/** Options of a client. */
export interface Options extends Base {
  /** The URL. */
  url: string;
  retry?(n: number): boolean;
}

export type Id = string | number;
export enum Color { Red, Green = 'g' }

/**
 * Sends requests.
 * @example new Client()
 */
export class Client extends Emitter implements Sender {
  private count = 0;
  handler = (x: number): void => {};
  constructor(private readonly options: Options, retries: number = 3) { super(); }
  /** Sends one. */
  async send<T>(body: T): Promise<Response> { return fetch(this.options.url, { body }); }
  static #hidden() {}
}

export const create = (options: Options): Client => new Client(options);
const LIMIT = 5;
function helper() { const local = 1; return local; }
namespace Inner { export function f() {} }
"##;

pub(super) const JAVASCRIPT_FILE: &str = r##"exports.parse = function parse(text) { return text; };
Foo.prototype.bar = function (x) {};
module.exports = { run: function () {}, walk() {} };
"##;

pub(super) const GO_FILE: &str = r##"// Package store keeps users.
package store

import (
	"fmt"
	log "example.com/log"
)

// MaxUsers is the limit.
const MaxUsers = 10

const (
	// A is first.
	A = iota
	B
)

// Store keeps users.
type Store struct {
	Base
	// Name of it.
	Name string
	size int
}

type Finder interface {
	Find(name string) (*User, error)
}

// Find returns a user, or an error.
func (s *Store) Find(name string, opts ...Option) (*User, error) {
	return lookup(s.Name, fmt.Sprint(name))
}

func lookup(a, b string) *User { return &User{} }
"##;

pub(super) const JAVA_FILE: &str = r##"package com.example;

import java.util.List;
import static java.lang.Math.*;

/**
 * A shop.
 */
public class Shop extends Base implements Store<Item> {
    private static final int MAX = 10;
    protected String name;

    /** Creates a shop. */
    public Shop(String name, int... sizes) { this.name = name; }

    /** Buys an item. */
    @Override
    public List<Item> buy(final Item item) throws IOException { return new Cart().add(item); }

    interface Listener { void onBuy(Item item); }
    enum Color { RED, GREEN }
    record Point(int x, int y) {}
}
"##;

pub(super) const RUBY_FILE: &str = r##"# Copyright (c) A

require 'json'
require_relative 'helper'

module Shop
  # Sells things.
  class Cart < Base
    LIMIT = 10

    # Adds an item.
    def add(item, count = 1, *rest, key: 2)
      Item.new(item).save
    end

    def self.load(path); end

    private

    def secret; end
  end
end
"##;

pub(super) const C_FILE: &str = r##"/* Copyright. */
#ifndef H
#define H
#include <stdio.h>
#include "util.h"

/** The limit. */
#define LIMIT 10
#define SQUARE(x) ((x) * (x))

/* A point. */
typedef struct {
    int x; /* across */
    int y;
} point_t;

struct node { struct node *next; int (*callback)(int); };
enum color { RED, GREEN };

/** Adds two points.
 * @param a first
 */
point_t *point_add(const point_t *a, point_t b);
static int helper(void) { return point_add(0, 1)->x; }
extern const int table[4];
#endif
"##;

pub(super) const CPP_FILE: &str = r##"#include <vector>

namespace shop {

/// Keeps items.
template <typename T>
class Cart : public Base {
 public:
  /// Adds one.
  void Add(const T& item, int count = 1);
  int size() const { return items_.size(); }
  virtual ~Cart();
 private:
  void Hidden();
  std::vector<T> items_;
};

template <typename T>
void Cart<T>::Add(const T& item, int count) { items_.push_back(item); auto* p = new Node(); }

int Cart2::total = 0;
using Id = int;
}  // namespace shop
"##;
