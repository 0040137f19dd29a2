//! Stores a bulk request body: parses it in parts, commits each part in one write, and responds
//! when the last part is durable.
//!
//! Most bodies are a single part. The parts of a larger body become durable one after another, so a
//! storage failure or a crash midway leaves the first parts stored. If the client repeats the
//! request with the same `Idempotency-Key`, parsing resumes after the stored parts:
//!
//! ```text
//! body     ├──────── part 0 ────────┼──────── part 1 ────────┼──── last part ────┤
//! receipt               position, outcome        position, outcome         response
//! ```
//!
//! The receipt of a part contains the position in the body (byte, line or item) where the next part
//! starts, and the outcome of all items before it. A repeated request therefore stores nothing
//! twice and gets the response that an uninterrupted first attempt would have got, even if it
//! parses the rest in parts of a different size. Items without a timestamp get the time of the
//! first attempt. Without a key, a repeated request overwrites the gauge samples it stored before
//! and counts counter increments twice.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use telltale_engine::{BatchBuilder, Engine, MemoryOwner, MemoryShare, PointBatch, Write};

use crate::app::App;
use crate::http::{
    ApiError, ApiResult, BulkOutcome, Parts, Request, Response, invalid_part_receipt,
};
use crate::limits::{
    BULK_INLINE_BYTES_MAX, BULK_STEP_POINTS_MIN, BULK_WRITE_BUCKETS_PER_POINT,
    MEMORY_PER_POINT_BYTE,
};

/// An incremental parser of a request body, implemented by each protocol.
pub(super) trait BodyReader: Sized {
    /// The position up to which a body is parsed, and the state that the rest depends on. It is
    /// stored in receipts, so later versions may only add optional fields.
    type Position: Serialize + DeserializeOwned;

    /// Parses until the batch has reached the size `part`, or the body ends, and counts the outcome
    /// of each line or item. One part may take several calls, each with a larger `part`. An error
    /// fails the request, so that no rest of a body is taken for its end.
    fn read_part(
        &mut self,
        batch: &mut BatchBuilder<'_>,
        part: PartSize,
        outcome: &mut BulkOutcome,
    ) -> Result<Progress, LostPosition>;

    /// Returns the position up to which the body is parsed.
    fn position(&self) -> Self::Position;

    /// Resumes at the position of another reader of the same body. Must be called before anything
    /// is parsed.
    fn resume(&mut self, position: Self::Position);

    /// Parses the whole body into one batch.
    fn read_whole(mut self, engine: &Engine) -> (PointBatch, BulkOutcome) {
        let (mut batch, mut outcome) = (engine.batch(), BulkOutcome::default());
        loop {
            match self.read_part(&mut batch, PartSize::WHOLE, &mut outcome) {
                Ok(Progress::Paused) => {}
                Ok(Progress::Ended) => return (batch.finish(), outcome),
                Err(lost) => unreachable!("a new reader is at the start of its body: {lost}"),
            }
        }
    }
}

/// A position is not in the body, or the body cannot be parsed from there, although it was
/// validated before its first part was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the body cannot be parsed from the position that its previous part reached")]
pub(super) struct LostPosition;

impl From<LostPosition> for ApiError {
    fn from(lost: LostPosition) -> Self {
        Self::internal(lost)
    }
}

/// The maximum size of one write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PartSize {
    /// The maximum number of samples, cumulative ones included.
    pub(super) points_max: usize,
    /// The maximum number of histogram buckets.
    pub(super) buckets_max: usize,
}

impl PartSize {
    /// No limit.
    pub(super) const WHOLE: Self = Self { points_max: usize::MAX, buckets_max: usize::MAX };

    /// Returns the size of a part of at most `points_max` samples.
    pub(super) fn of(points_max: usize) -> Self {
        let buckets_max = points_max.saturating_mul(BULK_WRITE_BUCKETS_PER_POINT);
        Self { points_max, buckets_max }
    }

    /// Returns whether a sample with this number of buckets no longer fits into a part that
    /// contains `batch`. A first histogram always fits.
    #[inline]
    pub(super) fn is_full(self, batch: &BatchBuilder<'_>, buckets: usize) -> bool {
        let of_batch = batch.buckets();
        let fits = of_batch == 0 || of_batch.saturating_add(buckets) <= self.buckets_max;
        batch.len() >= self.points_max || !fits
    }

    /// Returns the sizes at which the memory of a part is reserved while it is parsed; the last one
    /// is the size itself. Each step is twice the previous one: a reader that must scan for its
    /// position in the body does so only a few times per part, and the samples not yet accounted
    /// for are never more than those that are.
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

/// Whether a reader has reached the end of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// The batch is full; the body has more to parse.
    Paused,
    /// The whole body is parsed.
    Ended,
}

/// Stores a body of `body_bytes` bytes and responds with what `respond` makes of the outcome. An
/// error from `respond` is returned after all valid items are stored, and a repeated request gets
/// the same error.
pub(super) async fn store<R: BodyReader + Send + 'static>(
    app: &Arc<App>,
    req: &Request,
    body_bytes: usize,
    reader: R,
    respond: impl FnOnce(BulkOutcome) -> ApiResult<Response>,
) -> ApiResult<Response> {
    store_with_reader(app, req, body_bytes, reader, |_, outcome| respond(outcome)).await
}

/// [`store`] for protocols whose response needs the reader too: `respond` gets it in its final
/// state.
pub(super) async fn store_with_reader<R: BodyReader + Send + 'static>(
    app: &Arc<App>,
    req: &Request,
    body_bytes: usize,
    reader: R,
    respond: impl FnOnce(R, BulkOutcome) -> ApiResult<Response>,
) -> ApiResult<Response> {
    let mut body = Body { reader, outcome: BulkOutcome::default() };
    let mut parts = req.parts(app).await?;
    if let Some(stored) = parts.as_mut().and_then(Parts::take_position) {
        body.resume(&stored)?;
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
        // Holds the reservation until the samples are written.
        let Part { points, share: _share } = part;
        if progress == Progress::Paused {
            let position = parts.is_some().then(|| body.encode_receipt()).transpose()?;
            let receipt =
                parts.as_mut().zip(position).map(|(parts, position)| parts.receipt(position));
            app.write(Write { points, receipt, events: None }).await?;
            reserve = Reserve::Unconditionally;
            continue;
        }
        let result = respond(body.reader, body.outcome);
        let receipt = match &result {
            Ok(response) => req.receipt(response),
            Err(refusal) => req.receipt(&Response::from(refusal)),
        };
        if !points.is_empty() || receipt.is_some() {
            app.write(Write { points, receipt, events: None }).await?;
        }
        return result;
    }
}

/// How memory is reserved for the samples of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reserve {
    /// Fails if the memory limit is reached.
    OrRefuse,
    /// Reserves even beyond the limit: earlier parts are already stored, and without a key a
    /// repeated request would count them twice.
    Unconditionally,
}

/// The samples of one part, with their memory reservation.
struct Part {
    points: PointBatch,
    share: MemoryShare,
}

/// A body being parsed, and the outcome of its items so far.
struct Body<R> {
    reader: R,
    outcome: BulkOutcome,
}

/// The receipt of a part. The field names are part of the stored format.
#[derive(Serialize, Deserialize)]
struct PartReceipt<P, O> {
    /// The position up to which the body is parsed.
    reached: P,
    /// The outcome of all items before that position.
    outcome: O,
}

impl<R: BodyReader> Body<R> {
    /// Encodes the receipt from which [`Self::resume`] resumes.
    fn encode_receipt(&self) -> ApiResult<Vec<u8>> {
        let receipt = PartReceipt { reached: self.reader.position(), outcome: &self.outcome };
        serde_json::to_vec(&receipt).map_err(ApiError::internal)
    }

    fn resume(&mut self, stored: &[u8]) -> ApiResult<()> {
        let receipt: PartReceipt<R::Position, BulkOutcome> =
            serde_json::from_slice(stored).map_err(invalid_part_receipt)?;
        self.reader.resume(receipt.reached);
        self.outcome = receipt.outcome;
        Ok(())
    }

    /// Parses the next part. Memory is reserved step by step, so that at most one step is not yet
    /// accounted for.
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
            progress = self.reader.read_part(&mut batch, step, &mut self.outcome)?;
            let bytes = (batch.bytes() * MEMORY_PER_POINT_BYTE) as u64;
            let more = bytes.saturating_sub(share.bytes());
            match reserve {
                Reserve::OrRefuse => share.grow(more).map_err(telltale_engine::Error::from)?,
                Reserve::Unconditionally => share.grow_unchecked(more),
            }
            // A reader that pauses with fewer samples than allowed has reached the bucket limit.
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
    use crate::areas::bulk::tests::StepReader;

    #[test]
    fn memory_is_reserved_while_a_part_is_parsed() {
        const POINT: u64 = 40;
        let memory = Memory::new(64 << 30);
        let dir = tempfile::tempdir().unwrap();
        let options = Options { memory: memory.clone(), ..Options::default() };
        let engine = Engine::open(dir.path(), options).unwrap();
        let points = |steps| StepReader { at: 0, steps, panics_at: None, is_refused: |_| false };
        let body = |steps| Body { reader: points(steps), outcome: BulkOutcome::default() };
        // Creates the series, so that later parts account for samples only.
        let (_, first, _) = body(1).part(&engine, PartSize::WHOLE, Reserve::OrRefuse).unwrap();
        engine.write(first.points).unwrap();
        drop(first.share);
        let free_bytes = 3 * BULK_STEP_POINTS_MIN as u64 * POINT;
        let others = memory.limit() - memory.held() - free_bytes;
        let _others = memory.take(MemoryOwner::Merges, others).unwrap();
        let held = memory.held();
        let size = PartSize::of(4 * BULK_STEP_POINTS_MIN);
        let (body_left, part, progress) =
            body(5 * BULK_STEP_POINTS_MIN).part(&engine, size, Reserve::Unconditionally).unwrap();
        let points = part.points.len();
        assert_eq!((points, progress), (4 * BULK_STEP_POINTS_MIN, Progress::Paused));
        assert_eq!(memory.held() - held, points as u64 * POINT, "reserved beyond the limit");
        let more = body(BULK_STEP_POINTS_MIN).part(&engine, size, Reserve::OrRefuse);
        assert!(more.is_err(), "no memory is left for other bodies");
        drop(part);
        assert_eq!(memory.held(), held);
        let (_, last, progress) = body_left.part(&engine, size, Reserve::Unconditionally).unwrap();
        assert_eq!((last.points.len(), progress), (BULK_STEP_POINTS_MIN, Progress::Ended));
    }
}

/// Helpers for the tests of the protocols.
#[cfg(test)]
pub(super) mod testing {
    use super::*;

    /// Parses a body in parts and returns the samples of each.
    pub(in crate::areas::bulk) fn cut<R: BodyReader>(
        engine: &Engine,
        reader: R,
        size: PartSize,
    ) -> (Vec<PointBatch>, BulkOutcome) {
        let body = Body { reader, outcome: BulkOutcome::default() };
        parts(engine, body, std::iter::repeat(size), |body, _| body)
    }

    /// Checks that a body parsed in parts of several sizes gives the same samples with a single
    /// reader as with a new reader per part that resumes from the previous receipt. `new_reader`
    /// creates the reader of an attempt, with a current time of its own.
    #[track_caller]
    pub(in crate::areas::bulk) fn check_resumes<R: BodyReader>(
        engine: &Engine,
        new_reader: impl Fn(usize) -> R,
    ) {
        let (all, whole) = new_reader(0).read_whole(engine);
        for points_max in 1..20 {
            let sizes = std::iter::repeat(PartSize::of(points_max));
            let uninterrupted = Body { reader: new_reader(0), outcome: BulkOutcome::default() };
            let (expected, outcome) = parts(engine, uninterrupted, sizes.clone(), |body, _| body);
            assert_eq!(outcome, whole);
            let first = Body { reader: new_reader(0), outcome: BulkOutcome::default() };
            let resumed = |body: Body<R>, attempt| {
                let stored = body.encode_receipt().unwrap();
                let (reader, outcome) = (new_reader(attempt), BulkOutcome::default());
                let mut next = Body { reader, outcome };
                next.resume(&stored).unwrap();
                next
            };
            assert_eq!(parts(engine, first, sizes, resumed), (expected, outcome));
            // The part size may differ between attempts.
            let first = Body { reader: new_reader(0), outcome: BulkOutcome::default() };
            let sizes = [points_max, 1, 3].map(PartSize::of).into_iter().cycle();
            let (points, outcome) = parts(engine, first, sizes, resumed);
            assert_eq!(points.iter().map(PointBatch::len).sum::<usize>(), all.len());
            assert_eq!(outcome, whole);
        }
    }

    /// Checks that a reader fails if it resumes from a stored position that is not one of its body.
    #[track_caller]
    pub(in crate::areas::bulk) fn check_lost<R: BodyReader>(
        engine: &Engine,
        mut reader: R,
        position: serde_json::Value,
    ) {
        reader.resume(serde_json::from_value(position.clone()).unwrap());
        let (mut batch, mut outcome) = (engine.batch(), BulkOutcome::default());
        let progress = reader.read_part(&mut batch, PartSize::WHOLE, &mut outcome);
        assert_eq!(progress, Err(LostPosition), "{position}");
    }

    fn parts<R: BodyReader>(
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
