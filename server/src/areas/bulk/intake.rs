//! The way of a bulk body into the engine: read in parts, each a write of its own to the log, answered when the last
//! of them is durable.
//!
//! Nearly every body is one part. The parts of a larger one are durable one after another, so that a failure of the
//! storage in the middle leaves the first of them stored; the caller is told of the failure and sends all of it
//! again, which replaces the points of gauges by themselves. The receipt of an idempotent request is in the
//! last part, so that it is there only when everything is.

use std::sync::Arc;

use telltale_engine::{BatchBuilder, Engine, PointBatch, Write};

use crate::app::App;
use crate::http::{ApiError, ApiResult, BulkOutcome, Request, Response};
use crate::limits::{BULK_INLINE_BYTES_MAX, BULK_WRITE_POINTS_MAX};

/// A body on its way to be read, from its beginning to its end. One implementation for each protocol.
pub(super) trait Reading: Sized {
    /// Reads on until the batch has so many points, or the body ends. Counts what became of each line or item.
    fn read_on(
        &mut self,
        batch: &mut BatchBuilder<'_>,
        points_max: usize,
        outcome: &mut BulkOutcome,
    ) -> Progress;

    /// All points of the body in one batch, and what became of its lines or items.
    fn read_whole(mut self, engine: &Engine) -> (PointBatch, BulkOutcome) {
        let (mut batch, mut outcome) = (engine.batch(), BulkOutcome::default());
        while self.read_on(&mut batch, usize::MAX, &mut outcome) == Progress::Paused {}
        (batch.finish(), outcome)
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
    loop {
        let (points, progress);
        (body, points, progress) = if body_bytes <= BULK_INLINE_BYTES_MAX {
            body.part(app.engine())
        } else {
            app.blocking(move |app| Ok::<_, ApiError>(body.part(app.engine()))).await?
        };
        if progress == Progress::Paused {
            app.write(Write { points, ..Write::default() }).await?;
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

/// A body, and what became of it so far.
struct Body<R> {
    reading: R,
    outcome: BulkOutcome,
}

impl<R: Reading> Body<R> {
    fn part(mut self, engine: &Engine) -> (Self, PointBatch, Progress) {
        let mut batch = engine.batch();
        let progress = self.reading.read_on(&mut batch, BULK_WRITE_POINTS_MAX, &mut self.outcome);
        let points = batch.finish();
        (self, points, progress)
    }
}
