//! Bodies that are stored in parts: what a repetition does when the attempt before died among them.

use std::sync::Arc;

use serde_json::{Value, json};
use telltale_engine::{
    Aggregation, BatchBuilder, Interval, MetricName, MetricQuery, MetricType, Options, TimeRange,
};

use super::intake::{self, PartSize, Progress, Reading};
use crate::app::App;
use crate::areas::testing::{Answer, House, NOW};
use crate::http::{
    ApiError, ApiResult, BodyKind, BulkOutcome, BulkPlace, Data, ErrorCode, Request, Response,
    Route, Scope, Settings,
};
use crate::limits::IDEMPOTENCY_KEPT_MS;

/// Points of a part.
const PART: usize = 4;

static ROUTES: &[Route] =
    &[Route::post("/t/count", &count).scope(Scope::Ingest).body(BodyKind::Bulk)];

/// Counts as far as the body says, every fifth step is refused; dies where a header says.
async fn count(app: Arc<App>, mut req: Request) -> ApiResult<Response> {
    let number = |text: &[u8]| std::str::from_utf8(text).unwrap().trim().parse::<usize>().unwrap();
    let dies_at = req.headers().get("dies-at").map(|at| number(at.as_bytes()));
    let steps = number(&req.take_body());
    let reading = Steps { at: 0, steps, dies_at, is_refused: |at| at % 5 == 3 };
    intake::store(&app, &req, 0, reading, |outcome| Response::ok(&Data { data: outcome })).await
}

/// A body of so many steps, each of which is a point or is refused.
pub(super) struct Steps {
    pub(super) at: usize,
    pub(super) steps: usize,
    pub(super) dies_at: Option<usize>,
    pub(super) is_refused: fn(usize) -> bool,
}

impl Reading for Steps {
    type Reached = usize;

    fn read_on(
        &mut self,
        batch: &mut BatchBuilder<'_>,
        part: PartSize,
        outcome: &mut BulkOutcome,
    ) -> Progress {
        let series = batch.series("steps", MetricType::Counter, &[]).unwrap();
        while batch.len() < part.points_max {
            if self.at == self.steps {
                return Progress::Ended;
            }
            assert!(self.dies_at != Some(self.at), "the process dies");
            if (self.is_refused)(self.at) {
                let error = ApiError::new(ErrorCode::InvalidValue, "every fifth");
                outcome.reject(BulkPlace::index(self.at), error);
            } else {
                batch.number(MetricType::Counter, series, NOW, 1.0);
                outcome.accept();
            }
            self.at += 1;
        }
        Progress::Paused
    }

    fn reached(&self) -> usize {
        self.at
    }

    fn go_on(&mut self, reached: usize) {
        self.at = reached;
    }
}

fn house() -> House {
    let settings = Settings { bulk_write_points_max: PART, ..Settings::default() };
    House::serving(Options::default(), settings, ROUTES.iter())
}

fn send(house: &House, key: &str, body: &str, dies_at: Option<usize>) -> Answer {
    let dies_at = dies_at.map(|at| at.to_string());
    let mut headers = vec![("idempotency-key", key)];
    headers.extend(dies_at.as_deref().map(|at| ("dies-at", at)));
    house.call(http::Method::POST, "/t/count", &headers, body)
}

fn stored(house: &House) -> f64 {
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

/// What became of so many steps.
fn outcome(steps: usize) -> Value {
    let refused: Vec<usize> = (0..steps).filter(|at| at % 5 == 3).collect();
    let error =
        |at: &usize| json!({"index": at, "code": "invalid_value", "message": "every fifth"});
    let errors: Vec<Value> = refused.iter().map(error).collect();
    json!({"accepted": steps - refused.len(), "rejected": refused.len(), "errors": errors})
}

#[test]
fn a_repetition_stores_what_is_left_and_answers_for_all() {
    for dies_at in 0..30 {
        let house = house();
        send(&house, "k", "30", Some(dies_at)).refused(500, "internal", "");
        let before = stored(&house);
        assert_eq!(before as usize % PART, 0);
        // It dies again, in or before the part behind.
        send(&house, "k", "30", Some((dies_at + 2).min(29))).refused(500, "internal", "");
        assert!(stored(&house) - before <= PART as f64);
        let answer = send(&house, "k", "30", None);
        assert_eq!(answer.headers.get("idempotency-replayed"), None);
        assert_eq!(answer.data(200), outcome(30), "{dies_at}");
        assert_eq!(stored(&house), 24.0, "{dies_at}");
        let again = send(&house, "k", "30", None);
        assert_eq!(again.headers["idempotency-replayed"], "true");
        assert_eq!((again.data(200), stored(&house)), (outcome(30), 24.0));
    }
}

#[test]
fn another_body_is_a_conflict_from_the_first_part_on() {
    let house = house();
    send(&house, "k", "30", Some(2)).refused(500, "internal", "");
    // Nothing was stored, so nothing is remembered.
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
fn parts_are_remembered_for_a_day_from_the_first_one_on() {
    let house = house();
    send(&house, "k", "30", Some(7)).refused(500, "internal", "");
    house.pass(IDEMPOTENCY_KEPT_MS - 1);
    send(&house, "k", "30", Some(12)).refused(500, "internal", "");
    assert_eq!(stored(&house), 2.0 * PART as f64);
    house.pass(1);
    // A day later the key is a new one, for another body too.
    assert_eq!(send(&house, "k", "20", None).data(200), outcome(20));
    assert_eq!(stored(&house), 2.0 * PART as f64 + 16.0);
}

#[test]
fn receipts_of_parts_are_sealed_with_them() {
    let house = house();
    send(&house, "k", "30", Some(12)).refused(500, "internal", "");
    house.app().engine().seal().unwrap();
    assert_eq!(send(&house, "k", "30", None).data(200), outcome(30));
    assert_eq!(stored(&house), 24.0);
}
