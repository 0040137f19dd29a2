//! Tests of the memory account.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;

#[test]
fn allocations_beyond_the_limit_are_refused_and_released_memory_can_be_taken_again() {
    let memory = Memory::new(1_000);
    memory.hold(MemoryOwner::Registry, 300);
    let mut body = memory.take(MemoryOwner::Bodies, 500).unwrap();
    let refused = memory.take(MemoryOwner::Bodies, 201).unwrap_err();
    assert_eq!((refused.held, refused.limit), (800, 1_000));
    body.grow(200).unwrap();
    assert!(body.grow(1).is_err());
    assert_eq!(memory.bytes_left_for_data(), 450, "bodies do not count");
    assert_eq!((body.bytes(), memory.held()), (700, 1_000), "a refusal takes nothing");
    body.shrink_to(100);
    assert_eq!((memory.held_by(MemoryOwner::Bodies), memory.held()), (100, 400));
    drop(body);
    memory.hold(MemoryOwner::Registry, 10);
    assert_eq!((memory.held_by(MemoryOwner::Registry), memory.held()), (10, 10));
}

#[test]
fn uncounted_memory_of_the_process_is_counted() {
    const MIB: u64 = 1 << 20;
    let memory = Memory::new(256 * MIB);
    memory.hold(MemoryOwner::Heads, 100 * MIB);
    memory.hold_process(90 * MIB);
    assert_eq!(memory.held(), 100 * MIB, "the process is smaller than what is counted");
    memory.hold_process(130 * MIB);
    assert_eq!(memory.held_by(MemoryOwner::Uncounted), 30 * MIB);
    let body = memory.take(MemoryOwner::Bodies, 120 * MIB).unwrap();
    assert!(memory.take(MemoryOwner::Bodies, 7 * MIB).is_err());
    memory.hold_process(130 * MIB);
    assert_eq!(memory.held(), 220 * MIB, "the uncounted memory belonged to the body");
    drop(body);
    memory.hold(MemoryOwner::Heads, 96 * MIB);
    memory.hold_process(u64::MAX);
    assert_eq!(memory.held_by(MemoryOwner::Uncounted), 128 * MIB, "at most half of the limit");
}

#[test]
fn large_allocations_measure_the_process_first() {
    let memory = Memory::new(12_800);
    let process = Arc::new(AtomicU64::new(0));
    let measurements = Arc::new(AtomicU64::new(0));
    let (seen, counted) = (Arc::clone(&process), Arc::clone(&measurements));
    memory.measure_with(move |memory| {
        counted.fetch_add(1, Ordering::Relaxed);
        memory.hold_process(seen.load(Ordering::Relaxed));
    });
    let mut body = memory.take(MemoryOwner::Bodies, 99).unwrap();
    assert_eq!(measurements.load(Ordering::Relaxed), 0, "too little was taken");
    body.grow(1).unwrap();
    drop(body);
    assert_eq!(measurements.load(Ordering::Relaxed), 1, "released memory counts as taken, too");
    process.store(12_000, Ordering::Relaxed);
    let body = memory.take(MemoryOwner::Bodies, 99).unwrap();
    assert_eq!((measurements.load(Ordering::Relaxed), memory.held()), (1, 99));
    let refused = memory.take_from_reserve(MemoryOwner::Bodies, 7_000).unwrap_err();
    assert_eq!((measurements.load(Ordering::Relaxed), refused.held), (2, 99 + 6_400));
    drop(body);
}

#[test]
fn uncounted_memory_leaves_space_for_requests_beside_full_stores() {
    const MIB: u64 = 1 << 20;
    let memory = Memory::new(256 * MIB);
    memory.hold(MemoryOwner::Registry, 92 * MIB);
    memory.hold(MemoryOwner::Heads, 100 * MIB);
    assert_eq!(memory.bytes_left_for_data(), 0, "stores are full");
    memory.hold_process(u64::MAX);
    assert_eq!(memory.held_by(MemoryOwner::Uncounted), 32 * MIB);
    drop(memory.take(MemoryOwner::Queries, 16 * MIB).unwrap());
    let _body = memory.take(MemoryOwner::Bodies, 32 * MIB).unwrap();
    memory.take(MemoryOwner::Bodies, 1).unwrap_err();
    memory.hold_process(u64::MAX);
    assert_eq!(memory.held_by(MemoryOwner::Uncounted), 32 * MIB, "requests do not count");
    for (stores, uncounted) in [(223, 1), (224, 0), (300, 0)] {
        memory.hold(MemoryOwner::Heads, (stores - 92) * MIB);
        memory.hold_process(u64::MAX);
        assert_eq!(memory.held_by(MemoryOwner::Uncounted), uncounted * MIB, "{stores}");
    }
}

#[test]
fn a_part_of_the_limit_is_not_available_to_queries() {
    let memory = Memory::new(800);
    let _query = memory.take(MemoryOwner::Queries, 700).unwrap();
    assert!(memory.take(MemoryOwner::Answers, 1).is_err());
    memory.take(MemoryOwner::Bodies, 100).unwrap();
    drop(memory.take_unchecked(MemoryOwner::Answers, 1_000));
    assert_eq!(memory.held(), 700);
}

#[test]
fn small_queries_may_use_the_part_that_is_not_available_to_large_ones() {
    let memory = Memory::new(1_600);
    memory.hold(MemoryOwner::Heads, 1_450);
    let _query = memory.take(MemoryOwner::Queries, 60).unwrap();
    let answer = memory.take(MemoryOwner::Answers, 40).unwrap();
    let refused = memory.take(MemoryOwner::Answers, 1).unwrap_err();
    assert_eq!((refused.held, refused.limit), (1_550, 1_400), "a sixteenth is taken");
    drop(answer);
    memory.hold(MemoryOwner::Heads, 1_540);
    let refused = memory.take(MemoryOwner::Answers, 1).unwrap_err();
    assert_eq!(refused.limit, 1_600, "the limit holds for all");
}

#[test]
fn nothing_more_can_be_taken_while_stores_exceed_the_limit() {
    let memory = Memory::new(100);
    memory.hold(MemoryOwner::Jobs, 500);
    for owner in MemoryOwner::ALL {
        assert_eq!(memory.take(owner, 0).unwrap().bytes(), 0, "{}", owner.as_str());
    }
    memory.take(MemoryOwner::Answers, 1).unwrap_err();
}

#[test]
fn requests_that_shrink_stores_have_a_reserve() {
    let memory = Memory::new(1_600);
    memory.hold(MemoryOwner::Jobs, 1_590);
    let _body = memory.take_from_reserve(MemoryOwner::Bodies, 10).unwrap();
    let mut fetch = memory.take_from_reserve(MemoryOwner::Answers, 60).unwrap();
    fetch.grow_from_reserve(40).unwrap();
    assert_eq!(memory.held(), 1_700);
    memory.take_from_reserve(MemoryOwner::Answers, 1).unwrap_err();
    memory.take(MemoryOwner::Bodies, 1).unwrap_err();
    fetch.shrink_to(70);
    let other = memory.take_from_reserve(MemoryOwner::Answers, 30).unwrap();
    assert_eq!((fetch.bytes(), memory.held()), (70, 1_700));
    drop((fetch, other));
    memory.hold(MemoryOwner::Jobs, 0);
    assert_eq!(memory.held(), 10, "the jobs are done");
    memory.hold(MemoryOwner::Jobs, 1_600);
    memory.take_from_reserve(MemoryOwner::Answers, 100).unwrap();
}

#[test]
fn data_leaves_space_for_the_planned_size_of_stores() {
    let memory = Memory::new(1_000);
    memory.plan(MemoryOwner::Jobs, 300);
    memory.hold(MemoryOwner::Jobs, 10);
    memory.hold(MemoryOwner::Errors, 50);
    assert_eq!(memory.bytes_left_for_data(), 400);
    memory.hold(MemoryOwner::Jobs, 320);
    assert_eq!(memory.bytes_left_for_data(), 380, "more than planned");
    memory.plan(MemoryOwner::Errors, u64::MAX);
    assert_eq!(memory.bytes_left_for_data(), 0);
}

#[test]
fn stores_may_exceed_the_limit() {
    let memory = Memory::new(100);
    memory.hold(MemoryOwner::Registry, 500);
    assert_eq!(memory.bytes_left_for_data(), 0);
    assert!(memory.take(MemoryOwner::Merges, 1).is_err());
    memory.hold(MemoryOwner::Registry, 74);
    memory.hold(MemoryOwner::Connections, 20);
    assert_eq!(memory.bytes_left_for_data(), 1, "transient memory does not count");
    memory.hold(MemoryOwner::Caches, 1);
    assert_eq!(memory.bytes_left_for_data(), 0);
}

#[test]
fn owners_are_listed_in_the_order_of_their_discriminants() {
    for (index, owner) in MemoryOwner::ALL.into_iter().enumerate() {
        assert_eq!(owner as usize, index, "{}", owner.as_str());
    }
}
