//! A block of events that a query has not opened yet.
//!
//! Only its catalog entry is in memory. Its bytes are read when it is opened and released when it
//! is closed: a query can cover any number of blocks, but holds only those its threads are reading.

use super::Events;
use super::block::EventBlockInfo;
use super::source::{ClosedSource, OpenSource};
use crate::error::Result;

/// A block that is not open.
#[derive(Debug)]
pub(super) struct ClosedBlock<'a> {
    pub(super) events: &'a Events,
    pub(super) info: &'a EventBlockInfo,
}

impl ClosedSource for ClosedBlock<'_> {
    fn rows(&self) -> u32 {
        self.info.rows
    }

    fn time_bounds(&self) -> (i64, i64) {
        (self.info.first_time, self.info.last_time)
    }

    fn open(&self) -> Result<OpenSource<'_>> {
        Ok(OpenSource::Owned(Box::new(self.events.open_block(self.info)?)))
    }
}

#[cfg(test)]
mod tests {
    use crate::limits::PROPERTIES_BYTES_MAX;
    use crate::model::{
        EventAggregation, EventField, EventFilter, EventListQuery, EventQuery, NameFilter,
        NewEvent, Properties, TimeRange, TimestampMs,
    };
    use crate::options::{Maintenance, Options};
    use crate::{Clock, Engine, Write};

    const CACHE_BYTES: usize = 2 << 20;

    #[test]
    fn a_query_over_many_blocks_holds_few_of_them_in_memory() {
        const BLOCKS: i64 = 40;
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(TimestampMs(1_700_000_000_000));
        let options = Options {
            maintenance: Maintenance::Manual,
            clock: clock.clone(),
            cache_bytes: CACHE_BYTES,
            event_cache_bytes: CACHE_BYTES,
            ..Options::default()
        };
        let engine = Engine::open(dir.path(), options).unwrap();
        let mut random = 1_u64;
        for block in 0..BLOCKS {
            let mut events = engine.event_batch();
            for row in 0..12 {
                // Digits that hardly compress.
                let text: String = std::iter::repeat_with(|| {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    char::from(b'0' + (random >> 60) as u8)
                })
                .take(PROPERTIES_BYTES_MAX - 64)
                .collect();
                let properties = format!("{{\"text\":\"{text}\"}}");
                let time = TimestampMs(clock.now().0 - 1_000 * (block * 12 + row));
                let properties = Properties::parse(&properties).unwrap();
                let properties = Some(&properties);
                let new =
                    NewEvent { name: "a", time, user: None, value: None, tags: &[], properties };
                events.push(&new).unwrap();
            }
            let write = Write { events: Some(events), ..Write::default() };
            let (sender, receiver) = std::sync::mpsc::channel();
            engine.submit(write, move |outcome| sender.send(outcome).unwrap());
            receiver.recv().unwrap().unwrap();
            engine.seal().unwrap();
        }
        let filter = || EventFilter {
            range: TimeRange { start: TimestampMs(0), end: TimestampMs(i64::MAX) },
            name: NameFilter::Exactly("a".into()),
            user: None,
            tags: Vec::new(),
        };
        let before = engine.stats();
        assert!(before.event_block_bytes > 4 * CACHE_BYTES as u64, "{before:?}");
        let list = EventListQuery { filter: filter(), offset: 100, limit: 1, after: None };
        assert_eq!(engine.list_events(&list).unwrap().total, 12 * BLOCKS as u64);
        let count = EventQuery {
            filter: filter(),
            interval: None,
            group_by: Vec::new(),
            field: EventField::Property(vec!["text".into()]),
            distinct: None,
            aggregations: vec![EventAggregation::Count],
        };
        engine.query_events(&count).unwrap();
        let after = engine.stats().cache_bytes;
        assert!(after < 2 * CACHE_BYTES as u64, "{after}");
    }
}
