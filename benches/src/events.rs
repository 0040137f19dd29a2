//! Events like those of a shop, the same in every run.

use std::fmt::Write as _;

use telltale_engine::{Engine, EventBatch, NewEvent, Properties, TimestampMs, Write};

use crate::data::{DAY, START};

/// The number of events of [`day_of_events`].
pub const EVENTS: u64 = 5_000_000;
/// The number of names, which are equally frequent.
pub const NAMES: u64 = 20;
/// The number of users, who are equally frequent.
pub const USERS: u64 = 100_000;

/// A pseudo-random number generator (SplitMix64).
#[derive(Clone, Copy, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Creates a generator with this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}

/// Adds one event: a random user and name, a value with two decimals, three tags with 50, 5 and 3
/// values, and small properties.
fn push(batch: &mut EventBatch, dice: &mut Dice, time: TimestampMs) {
    let user = format!("user-{}", dice.below(USERS));
    let name = format!("shop.event-{}", dice.below(NAMES));
    let page = format!("page-{}", dice.below(50));
    let country = format!("c{}", dice.below(5));
    let device = format!("device-{}", dice.below(3));
    let plan = ["free", "pro", "team"].get(dice.below(3) as usize).copied().unwrap_or("pro");
    let (items, total) = (dice.below(9) + 1, dice.below(20_000) as f64 / 100.0);
    let properties =
        Properties::parse(&format!(r#"{{"plan":"{plan}","items":{items},"total":{total:?}}}"#));
    let tags = [("page", page.as_str()), ("country", &country), ("device", &device)];
    let event = NewEvent {
        name: &name,
        time,
        user: Some(&user),
        value: Some(dice.below(50_000) as f64 / 100.0),
        tags: &tags,
        properties: properties.as_ref().ok(),
    };
    let pushed = batch.push(&event);
    assert!(pushed.is_ok(), "{pushed:?}");
}

/// Writes a batch and waits until it is durable.
///
/// # Panics
/// When the engine refuses it.
pub fn write(engine: &Engine, batch: EventBatch) {
    let (tell, told) = std::sync::mpsc::channel();
    engine.submit(Write { events: Some(batch), ..Write::default() }, move |outcome| {
        drop(tell.send(outcome));
    });
    let outcome = told.recv();
    assert!(matches!(outcome, Ok(Ok(_))), "{outcome:?}");
}

/// Writes five million events, spread over a day, and seals and compacts them.
///
/// # Panics
/// When the engine refuses them.
pub fn day_of_events(engine: &Engine) {
    let mut dice = Dice::new(1);
    let mut batch = engine.event_batch();
    for i in 0..EVENTS {
        let time = START as u64 + i * DAY as u64 / EVENTS;
        push(&mut batch, &mut dice, TimestampMs(time as i64));
        if batch.len() == 500 {
            write(engine, std::mem::replace(&mut batch, engine.event_batch()));
        }
    }
    assert!(engine.seal().is_ok() && engine.merge().is_ok());
}

/// Returns the body of a batch of `count` events of about 300 bytes each: four tags, small
/// properties.
pub fn json(dice: &mut Dice, count: usize) -> Vec<u8> {
    let mut text = String::from("{\"events\":[");
    for i in 0..count {
        let separator = if i == 0 { "" } else { "," };
        let (name, user, host) = (dice.below(NAMES), dice.below(USERS), dice.below(50));
        let (second, ms) = (i * 60 / count, dice.below(1_000));
        let (items, total, value) = (dice.below(9), dice.below(20_000), dice.below(50_000));
        let written = write!(
            text,
            "{separator}{{\"name\":\"checkout.order.paid.{name}\",\"timestamp\":\"2024-10-04T03:04:{second:02}.{ms:03}Z\",\
             \"user_id\":\"user-{user:06}\",\"value\":{value}.25,\
             \"properties\":{{\"cart\":{{\"items\":{items},\"total\":{total}.5}},\"coupon\":null,\"plan\":\"team\"}},\
             \"tags\":{{\"host\":\"web-{host:03}\",\"region\":\"eu-west-1\",\"service\":\"checkout\",\"plan\":\"business\"}}}}"
        );
        assert!(written.is_ok(), "a string takes all");
    }
    text.push_str("]}");
    text.into_bytes()
}
