//! The newest events in the order of their writes, for clients that follow them.
//!
//! Ids do not tell which events a client has seen: an event gets its number before it is written,
//! and writes overtake each other. A position does: it counts the events that were written since
//! the engine was opened. Events are kept only while a client follows them, for a bounded time
//! after its last read, and up to a bounded number and size; a reader that is slower learns how
//! many it has missed.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use parking_lot::{Mutex, RwLock};

use crate::clock::Clock;
use crate::error::Result;
use crate::limits;
use crate::memory::{Memory, MemoryOwner, MemoryShare, ResultMemory};
use crate::model::{Event, EventFilter, EventRows};

/// A part of the events written since a position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventTailPage {
    /// The matching events, in the order in which they were written.
    pub events: Vec<Event>,
    /// The position after the last event that was examined.
    pub next: u64,
    /// The number of events since the given position, matching or not, that are no longer kept for
    /// followers; lists and counts still return them.
    pub missed: u64,
    /// The memory of the events.
    pub memory: ResultMemory,
}

/// Is called after events were written.
type Observer = Box<dyn Fn() + Send + Sync>;

/// The newest events.
pub(crate) struct EventTail {
    clock: Clock,
    memory: Memory,
    state: Mutex<TailState>,
    observer: RwLock<Option<Observer>>,
}

#[derive(Debug)]
struct TailState {
    /// The position of the next event.
    next: u64,
    /// The newest events, those before `next`, without gaps.
    events: VecDeque<Event>,
    share: MemoryShare,
    /// The time until which events are kept, on the steady clock; `None` if nobody follows.
    followed_until: Option<Duration>,
}

impl EventTail {
    pub(super) fn new(clock: Clock, memory: Memory) -> Self {
        let share = memory.share(MemoryOwner::Queries);
        let state = TailState { next: 0, events: VecDeque::new(), share, followed_until: None };
        Self { clock, memory, state: Mutex::new(state), observer: RwLock::new(None) }
    }

    /// Sets what is called after events were written while they are followed. Must not block.
    pub(crate) fn observe(&self, observer: impl Fn() + Send + Sync + 'static) {
        *self.observer.write() = Some(Box::new(observer));
    }

    /// Takes note of events that were written, before their write is acknowledged. Returns whether
    /// they are followed.
    pub(super) fn push(&self, rows: &EventRows) -> bool {
        let mut state = self.state.lock();
        let is_followed = state.followed_until.is_some_and(|until| self.clock.steady() < until);
        if is_followed {
            let first = rows.len().saturating_sub(limits::EVENT_TAIL_EVENTS_MAX);
            if first > 0 {
                state.forget();
            }
            (first..rows.len()).filter_map(|row| rows.event(row)).for_each(|e| state.keep(e));
        } else {
            state.followed_until = None;
            state.forget();
        }
        state.next += rows.len() as u64;
        is_followed
    }

    /// Calls the observer.
    pub(super) fn notify(&self) {
        if let Some(observer) = &*self.observer.read() {
            observer();
        }
    }

    /// Returns the position of the next event. Events are kept from now on.
    pub(crate) fn position(&self) -> u64 {
        let mut state = self.state.lock();
        state.follow(&self.clock);
        state.next
    }

    /// Returns the matching events from the position `after` on, up to `limit` of them.
    pub(crate) fn read(
        &self,
        filter: &EventFilter,
        after: u64,
        limit: usize,
    ) -> Result<EventTailPage> {
        let mut share = self.memory.share(MemoryOwner::Queries);
        let mut state = self.state.lock();
        state.follow(&self.clock);
        let first = state.next - state.events.len() as u64;
        let after = after.min(state.next);
        let from = after.max(first);
        let mut page = EventTailPage { next: from, missed: from - after, ..Default::default() };
        let skipped = usize::try_from(from - first).unwrap_or(usize::MAX);
        for event in state.events.iter().skip(skipped) {
            if page.events.len() == limit || share.bytes() >= limits::EVENT_TAIL_PAGE_BYTES_MAX {
                break;
            }
            page.next += 1;
            if filter.matches(event) {
                share.grow(event.bytes() as u64)?;
                page.events.push(event.clone());
            }
        }
        drop(state);
        page.memory = ResultMemory::from(share);
        Ok(page)
    }
}

impl TailState {
    fn follow(&mut self, clock: &Clock) {
        self.followed_until = Some(clock.steady().saturating_add(limits::EVENT_TAIL_FOLLOWED));
    }

    /// Keeps an event, and forgets the oldest ones for it. If the memory account has no space, all
    /// are forgotten, so that there are no gaps.
    fn keep(&mut self, event: Event) {
        let bytes = event.bytes() as u64;
        while self.events.len() >= limits::EVENT_TAIL_EVENTS_MAX
            || (!self.events.is_empty()
                && self.share.bytes() + bytes > limits::EVENT_TAIL_BYTES_MAX)
        {
            let Some(oldest) = self.events.pop_front() else { break };
            let left = self.share.bytes().saturating_sub(oldest.bytes() as u64);
            self.share.shrink_to(left);
        }
        match self.share.grow(bytes) {
            Ok(()) => self.events.push_back(event),
            Err(_) => self.forget(),
        }
    }

    fn forget(&mut self) {
        if !self.events.is_empty() {
            self.events = VecDeque::new();
            self.share.shrink_to(0);
        }
    }
}

impl fmt::Debug for EventTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventTail").field("state", &self.state).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{EventBatch, NameFilter, NewEvent, TimeRange, TimestampMs};

    fn rows(names: &[&str]) -> EventRows {
        let mut batch = EventBatch::new(TimestampMs(1_000), std::sync::Arc::default());
        for name in names {
            let event = NewEvent {
                name,
                time: TimestampMs(5),
                user: None,
                value: None,
                tags: &[],
                properties: None,
            };
            batch.push(&event).unwrap();
        }
        batch.into_rows()
    }

    fn all() -> EventFilter {
        let (range, name) = (TimeRange::ALL, NameFilter::Any);
        EventFilter { range, name, user: None, tags: Vec::new() }
    }

    fn tail(clock: &Clock, memory: &Memory) -> EventTail {
        EventTail::new(clock.clone(), memory.clone())
    }

    fn names(page: &EventTailPage) -> Vec<&str> {
        page.events.iter().map(|event| event.name.as_str()).collect()
    }

    #[test]
    fn followers_read_events_in_the_order_of_writes() {
        let clock = Clock::manual(TimestampMs(0));
        let tail = tail(&clock, &Memory::unlimited());
        tail.push(&rows(&["before"]));
        let start = tail.position();
        assert_eq!(start, 1);
        tail.push(&rows(&["a", "b"]));
        tail.push(&rows(&["c"]));
        let page = tail.read(&all(), start, 2).unwrap();
        assert_eq!((names(&page), page.next, page.missed), (vec!["a", "b"], 3, 0));
        let page = tail.read(&all(), page.next, 2).unwrap();
        assert_eq!((names(&page), page.next, page.missed), (vec!["c"], 4, 0));
        let page = tail.read(&all(), 0, 10).unwrap();
        assert_eq!((names(&page), page.next, page.missed), (vec!["a", "b", "c"], 4, 1));
        let only = EventFilter { name: NameFilter::Prefix("c".into()), ..all() };
        let page = tail.read(&only, start, 1).unwrap();
        assert_eq!((names(&page), page.next), (vec!["c"], 4));
        // A position of the future is that of the next event.
        assert_eq!(tail.read(&all(), u64::MAX, 1).unwrap().next, 4);
    }

    #[test]
    fn events_are_kept_only_while_somebody_follows() {
        let clock = Clock::manual(TimestampMs(0));
        let memory = Memory::new(1 << 30);
        let tail = tail(&clock, &memory);
        let start = tail.position();
        tail.push(&rows(&["a"]));
        assert!(memory.held() > 0);
        clock.pass(limits::EVENT_TAIL_FOLLOWED);
        tail.push(&rows(&["b"]));
        assert_eq!(memory.held(), 0);
        let page = tail.read(&all(), start, 10).unwrap();
        assert_eq!((page.events.len(), page.next, page.missed), (0, 2, 2));
    }

    #[test]
    fn number_and_memory_of_the_kept_events_are_bounded() {
        let clock = Clock::manual(TimestampMs(0));
        let tail = tail(&clock, &Memory::unlimited());
        let start = tail.position();
        let many = vec!["x"; limits::EVENT_TAIL_EVENTS_MAX + 5];
        tail.push(&rows(&many));
        let page = tail.read(&all(), start, usize::MAX).unwrap();
        assert_eq!(page.missed, 5);
        let memory = Memory::new(1_000);
        let small = self::tail(&clock, &memory);
        let start = small.position();
        small.push(&rows(&["a"; 20]));
        let page = small.read(&all(), start, 0).unwrap();
        assert!(page.missed > 0 && memory.held() <= 1_000, "{page:?}");
    }

    #[test]
    fn the_observer_is_called_when_told_to() {
        use std::sync::Arc;
        use std::sync::atomic::{AtomicUsize, Ordering};
        let clock = Clock::manual(TimestampMs(0));
        let tail = tail(&clock, &Memory::unlimited());
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        tail.observe(move || {
            counted.fetch_add(1, Ordering::Relaxed);
        });
        assert!(!tail.push(&rows(&["a"])));
        tail.position();
        assert!(tail.push(&rows(&["a", "b"])));
        tail.notify();
        assert_eq!(calls.load(Ordering::Relaxed), 1);
    }
}
