//! Bodies stored in parts: what a repeated request does after an attempt that failed midway.

use std::sync::Arc;

use serde_json::{Value, json};
use telltale_engine::{
    Aggregation, BatchBuilder, Interval, MetricName, MetricQuery, MetricType, Options, TimeRange,
};

use super::intake::{self, BodyReader, LostPosition, PartSize, Progress};
use crate::app::App;
use crate::areas::testing::{Answer, NOW, TestServer};
use crate::config::Config;
use crate::http::{
    ApiError, ApiResult, BodyKind, BulkOutcome, BulkPlace, Data, ErrorCode, Request, Response,
    Route, Scope,
};
use crate::limits::IDEMPOTENCY_KEPT_MS;

/// The number of samples in a part.
const PART: usize = 4;

static ROUTES: &[Route] =
    &[Route::post("/t/count", &count).scope(Scope::Ingest).body(BodyKind::Bulk)];

/// Stores the number of steps given in the body, of which every fifth is rejected; panics at the
/// step given in a header.
async fn count(app: Arc<App>, mut req: Request) -> ApiResult<Response> {
    let number = |text: &[u8]| std::str::from_utf8(text).unwrap().trim().parse::<usize>().unwrap();
    let panics_at = req.headers().get("panics-at").map(|at| number(at.as_bytes()));
    let steps = number(&req.take_body());
    let reader = StepReader { at: 0, steps, panics_at, is_refused: |at| at % 5 == 3 };
    intake::store(&app, &req, 0, reader, |outcome| Response::ok(&Data { data: outcome })).await
}

/// A body of `steps` steps, each of which is a sample or is rejected.
pub(super) struct StepReader {
    pub(super) at: usize,
    pub(super) steps: usize,
    pub(super) panics_at: Option<usize>,
    pub(super) is_refused: fn(usize) -> bool,
}

impl BodyReader for StepReader {
    type Position = usize;

    fn read_part(
        &mut self,
        batch: &mut BatchBuilder<'_>,
        part: PartSize,
        outcome: &mut BulkOutcome,
    ) -> Result<Progress, LostPosition> {
        let series = batch.series("steps", MetricType::Counter, &[]).unwrap();
        while batch.len() < part.points_max {
            if self.at == self.steps {
                return Ok(Progress::Ended);
            }
            assert!(self.panics_at != Some(self.at), "simulated crash");
            if (self.is_refused)(self.at) {
                let error = ApiError::new(ErrorCode::InvalidValue, "every fifth");
                outcome.reject(BulkPlace::index(self.at), error);
            } else {
                batch.number(MetricType::Counter, series, NOW, 1.0);
                outcome.accept();
            }
            self.at += 1;
        }
        Ok(Progress::Paused)
    }

    fn position(&self) -> usize {
        self.at
    }

    fn resume(&mut self, position: usize) {
        self.at = position;
    }
}

fn house() -> TestServer {
    let mut config = Config::default();
    config.bodies.bulk_write_points = PART;
    TestServer::serving(Options::default(), &config, ROUTES.iter())
}

fn send(house: &TestServer, key: &str, body: &str, panics_at: Option<usize>) -> Answer {
    let panics_at = panics_at.map(|at| at.to_string());
    let mut headers = vec![("idempotency-key", key)];
    headers.extend(panics_at.as_deref().map(|at| ("panics-at", at)));
    house.call(http::Method::POST, "/t/count", &headers, body)
}

fn stored(house: &TestServer) -> f64 {
    let query = MetricQuery {
        metric: MetricName::new("steps").unwrap(),
        range: TimeRange::new(NOW.0 - 60_000, NOW.0 + 60_000),
        interval: Interval::DAY,
        aggregations: vec![Aggregation::Sum],
        filters: vec![],
        group_by: vec![],
    };
    let groups = house.app().engine().query(&query).unwrap().groups;
    groups.iter().flat_map(|group| &group.columns[0]).sum()
}

/// Returns the expected outcome of this number of steps.
fn outcome(steps: usize) -> Value {
    let refused: Vec<usize> = (0..steps).filter(|at| at % 5 == 3).collect();
    let error =
        |at: &usize| json!({"index": at, "code": "invalid_value", "message": "every fifth"});
    let errors: Vec<Value> = refused.iter().map(error).collect();
    json!({"accepted": steps - refused.len(), "rejected": refused.len(), "errors": errors})
}

#[test]
fn a_repeated_request_stores_the_rest_and_reports_the_whole_outcome() {
    for panics_at in 0..30 {
        let house = house();
        send(&house, "k", "30", Some(panics_at)).refused(500, "internal", "");
        let before = stored(&house);
        assert_eq!(before as usize % PART, 0);
        // It fails again, in the next part or before it.
        send(&house, "k", "30", Some((panics_at + 2).min(29))).refused(500, "internal", "");
        assert!(stored(&house) - before <= PART as f64);
        let response = send(&house, "k", "30", None);
        assert_eq!(response.headers.get("idempotency-replayed"), None);
        assert_eq!(response.data(200), outcome(30), "{panics_at}");
        assert_eq!(stored(&house), 24.0, "{panics_at}");
        let again = send(&house, "k", "30", None);
        assert_eq!(again.headers["idempotency-replayed"], "true");
        assert_eq!((again.data(200), stored(&house)), (outcome(30), 24.0));
    }
}

#[test]
fn a_different_body_is_a_conflict_once_a_part_is_stored() {
    let house = house();
    send(&house, "k", "30", Some(2)).refused(500, "internal", "");
    // Nothing was stored, so there is no receipt either.
    send(&house, "k", "31", Some(7)).refused(500, "internal", "");
    for body in ["30", "1"] {
        send(&house, "k", body, None).refused(409, "conflict", "");
    }
    assert_eq!(stored(&house), PART as f64);
    assert_eq!(send(&house, "k", "31", None).data(200), outcome(31));
    assert_eq!(stored(&house), 25.0);
    send(&house, "other", "30", None).data(200);
    assert_eq!(stored(&house), 49.0);
}

#[test]
fn receipts_of_parts_expire_a_day_after_the_first() {
    let house = house();
    send(&house, "k", "30", Some(7)).refused(500, "internal", "");
    house.pass(IDEMPOTENCY_KEPT_MS - 1);
    send(&house, "k", "30", Some(12)).refused(500, "internal", "");
    assert_eq!(stored(&house), 2.0 * PART as f64);
    house.pass(1);
    // A day later the key is free, for a different body too.
    assert_eq!(send(&house, "k", "20", None).data(200), outcome(20));
    assert_eq!(stored(&house), 2.0 * PART as f64 + 16.0);
}

#[test]
fn receipts_of_parts_survive_a_seal() {
    let house = house();
    send(&house, "k", "30", Some(12)).refused(500, "internal", "");
    house.app().engine().seal().unwrap();
    assert_eq!(send(&house, "k", "30", None).data(200), outcome(30));
    assert_eq!(stored(&house), 24.0);
}
