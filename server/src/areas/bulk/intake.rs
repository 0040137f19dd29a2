//! The way of a bulk body into the engine: read in parts, each a write of its own to the log, answered when the last
//! of them is durable.
//!
//! Nearly every body is one part. The parts of a larger one are durable one after another, so that a failure of the
//! storage, or the end of the process, in the middle leaves the first of them stored. When the caller sends all of it again
//! with the same `Idempotency-Key`, reading goes on behind them:
//!
//! ```text
//! body     ├──────── part 0 ────────┼──────── part 1 ────────┼──── last part ────┤
//! receipt                  place, outcome            place, outcome       answer
//! ```
//!
//! The receipt of a part says at which byte, line or item of the body the next one begins, and what became of everything
//! before. So a repetition stores nothing twice and answers as the first attempt would have, also when it reads the rest in parts of another size; and
//! what has no time of its own has that of the first attempt. Without a key the points of gauges replace
//! themselves, and counts are doubled.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use telltale_engine::{BatchBuilder, Engine, MemoryOwner, MemoryShare, PointBatch, Write};

use crate::app::App;
use crate::http::{ApiError, ApiResult, BulkOutcome, Parts, Request, Response, unreadable_part};
use crate::limits::{
    BULK_INLINE_BYTES_MAX, BULK_STEP_POINTS_MIN, BULK_WRITE_BUCKETS_PER_POINT,
    MEMORY_PER_POINT_BYTE,
};

/// A body on its way to be read, from its beginning to its end. One implementation for each protocol.
pub(super) trait Reading: Sized {
    /// How far a body is read, and all that reading on depends on besides the body. Kept in receipts: what is added to it
    /// must be optional.
    type Reached: Serialize + DeserializeOwned;

    /// Reads on until the batch is as large as `part` allows, or the body ends. A part is read in several calls, each of which allows more.
    /// Counts what became of each line or item.
    fn read_on(
        &mut self,
        batch: &mut BatchBuilder<'_>,
        part: PartSize,
        outcome: &mut BulkOutcome,
    ) -> Progress;

    /// How far the body is read.
    fn reached(&self) -> Self::Reached;

    /// Goes on where another reading of the same body was. To be called before anything is read.
    fn go_on(&mut self, reached: Self::Reached);

    /// All points of the body in one batch, and what became of its lines or items.
    fn read_whole(mut self, engine: &Engine) -> (PointBatch, BulkOutcome) {
        let (mut batch, mut outcome) = (engine.batch(), BulkOutcome::default());
        while self.read_on(&mut batch, PartSize::WHOLE, &mut outcome) == Progress::Paused {}
        (batch.finish(), outcome)
    }
}

/// How much of a body goes to the log in one write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PartSize {
    /// Points, and readings.
    pub(super) points_max: usize,
    /// Buckets of histograms.
    pub(super) buckets_max: usize,
}

impl PartSize {
    /// All of it.
    pub(super) const WHOLE: Self = Self { points_max: usize::MAX, buckets_max: usize::MAX };

    /// So many points.
    pub(super) fn of(points_max: usize) -> Self {
        let buckets_max = points_max.saturating_mul(BULK_WRITE_BUCKETS_PER_POINT);
        Self { points_max, buckets_max }
    }

    /// Whether a part that has as much as `batch` takes no more, were it a point of so many buckets. A first histogram always fits.
    #[inline]
    pub(super) fn is_full(self, batch: &BatchBuilder<'_>, buckets: usize) -> bool {
        let of_batch = batch.buckets();
        let fits = of_batch == 0 || of_batch.saturating_add(buckets) <= self.buckets_max;
        batch.len() >= self.points_max || !fits
    }

    /// The sizes at which the memory of a part is counted while it is read, the last one its own. Each is twice the one before: a reader that
    /// walks to its place in the body does so a few times for each part, however large, and what is not counted yet is no more than what is.
    fn steps(self) -> impl Iterator<Item = Self> {
        let next = |points: &usize| points.checked_mul(2);
        let steps = std::iter::successors(Some(BULK_STEP_POINTS_MIN), next).map(Self::of);
        let smaller = move |step: &Self| {
            step.points_max < self.points_max || step.buckets_max < self.buckets_max
        };
        let cut = move |step: Self| Self {
            points_max: step.points_max.min(self.points_max),
            buckets_max: step.buckets_max.min(self.buckets_max),
        };
        steps.take_while(smaller).map(cut).chain([self])
    }
}

/// How far a reading came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// There is more to read.
    Paused,
    /// The body is read.
    Ended,
}

/// Stores what `reading` finds in a body of so many bytes, then answers what `answer` makes of the outcome. A refusal
/// that it makes is answered after the rest is stored, and a repetition of the request is answered with it too.
pub(super) async fn store<R: Reading + Send + 'static>(
    app: &Arc<App>,
    req: &Request,
    body_bytes: usize,
    reading: R,
    answer: impl FnOnce(BulkOutcome) -> ApiResult<Response>,
) -> ApiResult<Response> {
    store_and_ask(app, req, body_bytes, reading, |_, outcome| answer(outcome)).await
}

/// [`store`] for protocols whose answer tells more than the outcome: it is made of the reading at its end too.
pub(super) async fn store_and_ask<R: Reading + Send + 'static>(
    app: &Arc<App>,
    req: &Request,
    body_bytes: usize,
    reading: R,
    answer: impl FnOnce(R, BulkOutcome) -> ApiResult<Response>,
) -> ApiResult<Response> {
    let mut body = Body { reading, outcome: BulkOutcome::default() };
    let mut parts = req.parts(app).await?;
    if let Some(stored) = parts.as_mut().and_then(Parts::take_reached) {
        body.go_on(&stored)?;
    }
    let size = PartSize::of(app.bulk_write_points_max());
    let mut reserve = Reserve::OrRefuse;
    loop {
        let (part, progress);
        (body, part, progress) = if body_bytes <= BULK_INLINE_BYTES_MAX {
            body.part(app.engine(), size, reserve)?
        } else {
            app.blocking(move |app| body.part(app.engine(), size, reserve)).await?
        };
        // Counted until it is written.
        let Part { points, share: _share } = part;
        if progress == Progress::Paused {
            let reached = parts.is_some().then(|| body.reached()).transpose()?;
            let receipt =
                parts.as_mut().zip(reached).map(|(parts, reached)| parts.receipt(reached));
            app.write(Write { points, receipt, events: None }).await?;
            reserve = Reserve::Unconditionally;
            continue;
        }
        let answer = answer(body.reading, body.outcome);
        let receipt = match &answer {
            Ok(response) => req.receipt(response),
            Err(refusal) => req.receipt(&Response::from(refusal)),
        };
        if !points.is_empty() || receipt.is_some() {
            app.write(Write { points, receipt, events: None }).await?;
        }
        return answer;
    }
}

/// How the points of a part reserve their memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reserve {
    /// The part is refused where memory is full.
    OrRefuse,
    /// It counts whether memory is full or not: parts before it are stored, and without a key a repetition would count them twice.
    Unconditionally,
}

/// A part of a body on its way into the log.
struct Part {
    points: PointBatch,
    share: MemoryShare,
}

/// A body, and what became of it so far.
struct Body<R> {
    reading: R,
    outcome: BulkOutcome,
}

/// What the receipt of a part says.
#[derive(Serialize, Deserialize)]
struct PartReceipt<P, O> {
    /// How far the body was read with the part.
    reached: P,
    /// What became of everything up to there.
    outcome: O,
}

impl<R: Reading> Body<R> {
    /// The bytes that [`Self::go_on`] takes.
    fn reached(&self) -> ApiResult<Vec<u8>> {
        let receipt = PartReceipt { reached: self.reading.reached(), outcome: &self.outcome };
        serde_json::to_vec(&receipt).map_err(ApiError::internal)
    }

    fn go_on(&mut self, stored: &[u8]) -> ApiResult<()> {
        let receipt: PartReceipt<R::Reached, BulkOutcome> =
            serde_json::from_slice(stored).map_err(unreadable_part)?;
        self.reading.go_on(receipt.reached);
        self.outcome = receipt.outcome;
        Ok(())
    }

    /// Reads the next part. Asks for its memory step by step, so that at most a step is there that has not been counted.
    fn part(
        mut self,
        engine: &Engine,
        size: PartSize,
        reserve: Reserve,
    ) -> ApiResult<(Self, Part, Progress)> {
        let mut batch = engine.batch();
        let mut share = engine.memory().share(MemoryOwner::Bodies);
        let mut progress = Progress::Paused;
        for step in size.steps() {
            progress = self.reading.read_on(&mut batch, step, &mut self.outcome);
            let bytes = (batch.bytes() * MEMORY_PER_POINT_BYTE) as u64;
            let more = bytes.saturating_sub(share.bytes());
            match reserve {
                Reserve::OrRefuse => share.grow(more).map_err(telltale_engine::Error::from)?,
                Reserve::Unconditionally => share.grow_anyway(more),
            }
            // A reader that pauses with fewer points than it may read has met the limit on buckets.
            let has_all_buckets =
                batch.len() < step.points_max && step.buckets_max == size.buckets_max;
            let is_whole = batch.len() >= size.points_max || has_all_buckets;
            if progress == Progress::Ended || is_whole {
                break;
            }
        }
        Ok((self, Part { points: batch.finish(), share }, progress))
    }
}

#[cfg(test)]
mod tests {
    use telltale_engine::{Memory, Options};

    use super::*;
    use crate::areas::bulk::tests::Steps;

    #[test]
    fn the_points_of_a_part_are_counted_while_it_is_read() {
        const POINT: u64 = 40;
        let memory = Memory::new(64 << 30);
        let dir = tempfile::tempdir().unwrap();
        let options = Options { memory: memory.clone(), ..Options::default() };
        let engine = Engine::open(dir.path(), options).unwrap();
        let points = |steps| Steps { at: 0, steps, dies_at: None, is_refused: |_| false };
        let body = |steps| Body { reading: points(steps), outcome: BulkOutcome::default() };
        // Its series is known from now on.
        let (_, first, _) = body(1).part(&engine, PartSize::WHOLE, Reserve::OrRefuse).unwrap();
        engine.write(first.points).unwrap();
        drop(first.share);
        let room = 3 * BULK_STEP_POINTS_MIN as u64 * POINT;
        let others = memory.limit() - memory.held() - room;
        let _others = memory.take(MemoryOwner::Merges, others).unwrap();
        let held = memory.held();
        let size = PartSize::of(4 * BULK_STEP_POINTS_MIN);
        let (body_left, part, progress) =
            body(5 * BULK_STEP_POINTS_MIN).part(&engine, size, Reserve::Unconditionally).unwrap();
        let points = part.points.len();
        assert_eq!((points, progress), (4 * BULK_STEP_POINTS_MIN, Progress::Paused));
        assert_eq!(memory.held() - held, points as u64 * POINT, "more than there is");
        let more = body(BULK_STEP_POINTS_MIN).part(&engine, size, Reserve::OrRefuse);
        assert!(more.is_err(), "there is no room for others");
        drop(part);
        assert_eq!(memory.held(), held);
        let (_, last, progress) = body_left.part(&engine, size, Reserve::Unconditionally).unwrap();
        assert_eq!((last.points.len(), progress), (BULK_STEP_POINTS_MIN, Progress::Ended));
    }
}

/// For the tests of the protocols.
#[cfg(test)]
pub(super) mod testing {
    use super::*;

    /// The parts of a body, each with its points.
    pub(in crate::areas::bulk) fn cut<R: Reading>(
        engine: &Engine,
        reading: R,
        size: PartSize,
    ) -> (Vec<PointBatch>, BulkOutcome) {
        let body = Body { reading, outcome: BulkOutcome::default() };
        parts(engine, body, std::iter::repeat(size), |body, _| body)
    }

    /// Reads a body in parts of several sizes, once by one reading and once by a new one for each part, which goes on where
    /// the receipt of the part before says. `begin` begins the reading of an attempt, at a time of its own.
    #[track_caller]
    pub(in crate::areas::bulk) fn check_goes_on<R: Reading>(
        engine: &Engine,
        begin: impl Fn(usize) -> R,
    ) {
        let (all, whole) = begin(0).read_whole(engine);
        for points_max in 1..20 {
            let sizes = std::iter::repeat(PartSize::of(points_max));
            let uninterrupted = Body { reading: begin(0), outcome: BulkOutcome::default() };
            let (expected, outcome) = parts(engine, uninterrupted, sizes.clone(), |body, _| body);
            assert_eq!(outcome, whole);
            let first = Body { reading: begin(0), outcome: BulkOutcome::default() };
            let anew = |body: Body<R>, attempt| {
                let stored = body.reached().unwrap();
                let (reading, outcome) = (begin(attempt), BulkOutcome::default());
                let mut next = Body { reading, outcome };
                next.go_on(&stored).unwrap();
                next
            };
            assert_eq!(parts(engine, first, sizes, anew), (expected, outcome));
            // The size of parts may change from attempt to attempt.
            let first = Body { reading: begin(0), outcome: BulkOutcome::default() };
            let sizes = [points_max, 1, 3].map(PartSize::of).into_iter().cycle();
            let (points, outcome) = parts(engine, first, sizes, anew);
            assert_eq!(points.iter().map(PointBatch::len).sum::<usize>(), all.len());
            assert_eq!(outcome, whole);
        }
    }

    fn parts<R: Reading>(
        engine: &Engine,
        mut body: Body<R>,
        sizes: impl Iterator<Item = PartSize>,
        next: impl Fn(Body<R>, usize) -> Body<R>,
    ) -> (Vec<PointBatch>, BulkOutcome) {
        let mut all = Vec::new();
        for (attempt, size) in sizes.enumerate() {
            let (part, progress);
            (body, part, progress) = body.part(engine, size, Reserve::OrRefuse).unwrap();
            all.push(part.points);
            if progress == Progress::Ended {
                break;
            }
            body = next(body, attempt + 1);
        }
        (all, body.outcome)
    }
}
