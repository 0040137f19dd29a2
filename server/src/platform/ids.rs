//! Ids: a prefix and a ULID, so that ids sort by creation. The only module that generates them.

use parking_lot::Mutex;
use telltale_engine::Clock;
use ulid::Ulid;
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::random;

/// Passes the 26 characters of a ULID to `use_text`.
pub fn with_ulid_text<R>(id: u128, use_text: impl FnOnce(&str) -> R) -> R {
    use_text(Ulid(id).array_to_str(&mut [0; ulid::ULID_LEN]))
}

/// Returns the characters of a ULID, after `prefix`.
pub fn prefixed(prefix: &str, id: u128) -> String {
    with_ulid_text(id, |text| [prefix, text].concat())
}

/// Parses what [`with_ulid_text`] writes.
pub fn parse_ulid(text: &str) -> Option<u128> {
    Ulid::from_string(text).ok().map(u128::from)
}

/// A generator of unique ids, each greater than the one before, also when the clock steps back.
#[derive(Debug)]
pub struct Ids {
    clock: Clock,
    /// Random per process, so that two processes do not generate the same ids.
    seed: u128,
    last: Mutex<Ulid>,
}

impl Ids {
    /// Returns a generator that takes the time from `clock`. Fails if the system provides no
    /// randomness.
    pub fn new(clock: Clock) -> std::io::Result<Self> {
        let seed = u128::from_le_bytes(random::bytes()?);
        Ok(Self { clock, seed, last: Mutex::new(Ulid::nil()) })
    }

    /// Makes all further ids greater than this stored one: the clock may have been ahead when it
    /// was generated. They do not continue right after it, because the process that generated it
    /// may have used the next ones for data that is not stored any more.
    pub fn continue_after(&self, number: u128) {
        let beyond = self.fresh(Ulid::from(number).timestamp_ms().saturating_add(1));
        let mut last = self.last.lock();
        *last = (*last).max(beyond);
    }

    /// Generates an id that begins with `prefix`.
    pub fn next(&self, prefix: &str) -> String {
        prefixed(prefix, self.next_number())
    }

    /// Generates the number of an id, without a prefix.
    pub fn next_number(&self) -> u128 {
        self.next_ulid().into()
    }

    fn next_ulid(&self) -> Ulid {
        let now_ms = u64::try_from(self.clock.now().0).unwrap_or(0);
        let mut last = self.last.lock();
        let next =
            if now_ms > last.timestamp_ms() { self.fresh(now_ms) } else { self.after(*last) };
        *last = next;
        next
    }

    /// Returns a ULID that is hard to guess, but no secret: ids grant nothing.
    fn fresh(&self, ms: u64) -> Ulid {
        let [low, high] = [self.seed as u64, (self.seed >> 64) as u64];
        let input = [ms.to_le_bytes(), high.to_le_bytes()].concat();
        // The top bit of the random part stays clear, so that ids can count up within the
        // millisecond.
        Ulid::from_parts(ms, xxh3_128_with_seed(&input, low) & (u128::MAX >> 49))
    }

    fn after(&self, last: Ulid) -> Ulid {
        last.increment().unwrap_or_else(|_| self.fresh(last.timestamp_ms() + 1))
    }
}

#[cfg(test)]
mod tests {
    use telltale_engine::TimestampMs;

    use super::*;

    #[test]
    fn ids_ascend_over_a_restart_also_when_the_clock_was_ahead() {
        let clock = Clock::manual(TimestampMs(1_700_000_000_000));
        let ids = Ids::new(clock.clone()).unwrap();
        clock.jump(TimestampMs(1_800_000_000_000));
        let (ahead, forgotten) = (ids.next_number(), ids.next_number());
        for back_ms in [0, 100_000_000_000] {
            clock.jump(TimestampMs(1_800_000_000_000 - back_ms));
            let ids = Ids::new(clock.clone()).unwrap();
            ids.continue_after(ahead);
            let next = ids.next_number();
            assert!(next > ahead && next != forgotten);
        }
    }

    #[test]
    fn ids_ascend_also_when_the_clock_steps_back() {
        let clock = Clock::manual(TimestampMs(1_700_000_000_000));
        let ids = Ids::new(clock.clone()).unwrap();
        let mut made = Vec::new();
        for step in [0, 0, 1, -5_000, 0, 60_000] {
            clock.set(TimestampMs(clock.now().0 + step));
            made.extend((0..100).map(|_| ids.next("dash_")));
        }
        assert!(made.is_sorted_by(|a, b| a < b), "{made:?}");
        assert!(made.iter().all(|id| id.len() == "dash_".len() + 26 && id.starts_with("dash_")));
    }

    #[test]
    fn two_processes_make_different_ids() {
        let clock = Clock::manual(TimestampMs(1_700_000_000_000));
        let [one, other] = [(), ()].map(|()| Ids::new(clock.clone()).unwrap());
        assert_ne!(one.next(""), other.next(""));
    }
}
