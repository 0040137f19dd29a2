//! Notices of incidents and maintenances through their routes. Now is Friday,
//! 2026-01-02T03:04:05.678Z.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use telltale_engine::TimestampMs;

use super::{Notice, NoticeText, enqueued_until, finish, get, pending, trim};
use crate::areas::status::documents;
use crate::areas::status::ids::{PageId, SubscriberId};
use crate::areas::status::testing::{id, id_of_page, mailing, monitor, page, patch, with};
use crate::areas::status::{limits, maintenance};
use crate::areas::testing::{NOW, TestServer};

const DAY_MS: i64 = 86_400_000;

/// A page with a confirmed subscriber.
struct Fixture {
    server: TestServer,
    page: String,
    monitor: String,
    announced: BTreeSet<String>,
}

impl Fixture {
    fn new() -> Self {
        let server = mailing(1_000);
        let monitor = monitor(&server, "a");
        let page = page(&server, "shop", &[&monitor]);
        server.app().status().subscribers().add_confirmed(id_of_page(&page), 1..2);
        Self { server, page, monitor, announced: BTreeSet::new() }
    }

    fn pending(&self) -> Vec<String> {
        pending(self.server.app()).unwrap().into_iter().map(|notice| notice.key).collect()
    }

    fn maintain(&self, change: &Value) -> String {
        let body = json!({
            "title": "Move", "monitors": [self.monitor], "notify_subscribers": true,
            "starts_at": "2026-01-02T04:00:00Z", "ends_at": "2026-01-02T05:00:00Z",
        });
        let path = format!("{}/maintenance", self.page);
        let created = self.server.post(&path, &with(body, change)).whole(201);
        format!("{path}/{}", id(&created))
    }

    fn record_due(&mut self) {
        let app = self.server.app();
        maintenance::record_due(app, &mut self.announced, app.now()).unwrap();
    }

    /// Returns a number that is larger after every change of a document.
    fn generation(&self) -> u64 {
        self.server.app().status().documents().generation()
    }

    /// Stores as many notices as there may be, of different pages. The mails of the first ones were
    /// enqueued long ago.
    fn fill(&self, sent: usize) {
        self.insert(limits::NOTICES_MAX, |i| PageId(i as u128));
        (0..sent).for_each(|i| self.send(i, NOW.0 - limits::NOTICE_SENT_MS - 1));
    }

    /// Makes the mails of a notice enqueued at this time.
    fn send(&self, i: usize, at_ms: i64) {
        let mut changes = documents::begin(self.server.app());
        let found = changes.get::<Notice>(&format!("n{i:05}"), |_| true).unwrap();
        let notice = Notice { enqueued_at: Some(TimestampMs(at_ms)), ..found.value };
        changes.replace(&notice, found.revision).unwrap();
        changes.commit(None).unwrap();
    }

    /// Stores notices of these pages.
    fn insert(&self, count: usize, page: impl Fn(usize) -> PageId) {
        let app = self.server.app();
        let text = NoticeText { title: "t".to_owned(), paragraphs: vec![], facts: vec![] };
        let mut changes = documents::begin(app);
        for i in 0..count {
            let created_at = TimestampMs(NOW.0 - limits::NOTICES_MAX as i64 + i as i64);
            let notice = Notice::new(format!("n{i:05}"), page(i), text.clone(), created_at);
            changes.insert(&notice).unwrap();
        }
        changes.commit(None).unwrap();
    }

    fn count(&self) -> usize {
        documents::select::<Notice, _>(self.server.app().engine(), Some).unwrap().len()
    }
}

fn incident() -> Value {
    json!({"title": "Slow", "message": "We look into it.", "notify_subscribers": true})
}

#[test]
fn a_notice_that_nobody_would_get_is_not_recorded() {
    let mut fixture = Fixture::new();
    let other = page(&fixture.server, "other", &[]);
    fixture.server.post(&format!("{other}/incidents"), &incident()).whole(201);
    assert_eq!(fixture.pending(), Vec::<String>::new());
    let created =
        fixture.server.post(&format!("{}/incidents", fixture.page), &incident()).whole(201);
    assert_eq!(fixture.pending(), [format!("{}-1", id(&created))]);
    // Without a mail server, and with a maintenance that has begun.
    fixture.server = TestServer::open();
    fixture.monitor = monitor(&fixture.server, "a");
    fixture.page = page(&fixture.server, "shop", &[&fixture.monitor]);
    let subscribers = fixture.server.app().status().subscribers();
    subscribers.add_confirmed(id_of_page(&fixture.page), 1..2);
    fixture.maintain(&json!({"starts_at": "2026-01-02T03:00:00Z"}));
    let before = fixture.generation();
    fixture.record_due();
    assert_eq!((fixture.count(), fixture.generation()), (0, before));
}

#[test]
fn the_oldest_notices_make_space_for_new_ones() {
    let fixture = Fixture::new();
    fixture.fill(3);
    // Its mails may be unsent.
    fixture.send(3, NOW.0 - limits::NOTICE_SENT_MS);
    let path = format!("{}/incidents", fixture.page);
    let created = fixture.server.post(&path, &incident()).whole(201);
    assert_eq!(fixture.count(), limits::NOTICES_MAX - 2);
    assert!(get(fixture.server.app(), "n00003").unwrap().is_some());
    let pending = fixture.pending();
    assert_eq!(pending.first().map(String::as_str), Some("n00004"));
    assert_eq!(pending.last(), Some(&format!("{}-1", id(&created))));
}

#[test]
fn a_request_to_notify_subscribers_is_refused_when_there_is_no_space() {
    let mut fixture = Fixture::new();
    fixture.fill(0);
    let path = format!("{}/incidents", fixture.page);
    fixture.server.post(&path, &incident()).refused(409, "conflict", "");
    let listed = fixture.server.get(&path).whole(200);
    assert_eq!(listed["incidents"], json!([]), "nothing is stored");
    fixture.server.post(&path, &with(incident(), &json!({"notify_subscribers": false}))).whole(201);
    let quiet = fixture.maintain(&json!({"notify_subscribers": false}));
    patch(&fixture.server, &quiet, &json!({"title": "x", "notify_subscribers": true}))
        .refused(409, "conflict", "");
    fixture.send(0, NOW.0 - limits::NOTICE_SENT_MS - 1);
    patch(&fixture.server, &quiet, &json!({"title": "x", "notify_subscribers": true})).whole(200);
    // The sweep fails without changing anything.
    fixture.server.pass(3_600_000);
    let before = fixture.generation();
    let app = fixture.server.app();
    maintenance::record_due(app, &mut fixture.announced, app.now()).unwrap_err();
    assert_eq!(fixture.generation(), before);
}

#[test]
fn a_maintenance_that_is_postponed_after_its_start_is_announced_again() {
    let mut fixture = Fixture::new();
    let path = fixture.maintain(&json!({}));
    let id = path.rsplit('/').next().unwrap().to_owned();
    fixture.record_due();
    assert_eq!(fixture.pending(), [format!("{id}-planned")]);
    fixture.server.pass(3_600_000);
    fixture.record_due();
    let begun = format!("{id}-begun-1767326400000");
    assert!(fixture.pending().contains(&begun), "{:?}", fixture.pending());
    let later = json!({"starts_at": "2026-01-02T06:00:00Z", "ends_at": "2026-01-02T07:00:00Z"});
    patch(&fixture.server, &path, &later).whole(200);
    fixture.record_due();
    assert_eq!(fixture.count(), 3, "planned, begun and changed");
    fixture.server.pass(2 * 3_600_000);
    fixture.record_due();
    let again = format!("{id}-begun-1767333600000");
    assert!(fixture.pending().contains(&again), "{:?}", fixture.pending());
    fixture.server.pass(3_600_000);
    fixture.record_due();
    let completed = format!("{id}-completed-1767337200000");
    assert!(fixture.pending().contains(&completed), "{:?}", fixture.pending());
    // Nothing more is recorded, whether it is remembered or not.
    let (count, generation) = (fixture.count(), fixture.generation());
    fixture.record_due();
    assert_eq!(fixture.announced, BTreeSet::from([completed]));
    fixture.announced.clear();
    fixture.record_due();
    assert_eq!((fixture.count(), fixture.generation()), (count, generation));
}

#[test]
fn notices_are_deleted_by_the_trusted_time() {
    let fixture = Fixture::new();
    fixture.server.post(&format!("{}/incidents", fixture.page), &incident()).whole(201);
    let app = fixture.server.app();
    // Its mails are not enqueued.
    fixture.server.pass(limits::NOTICE_KEPT_MS + 1);
    trim(app).unwrap();
    let [notice] = pending(app).unwrap().try_into().unwrap();
    // A clock that is wrong deletes nothing, whether it was when they were enqueued or is now.
    let now = app.now();
    app.clock().jump(TimestampMs(now.0 - 100 * DAY_MS));
    finish(app, &notice.key).unwrap();
    app.clock().jump(TimestampMs(now.0 + 100 * DAY_MS));
    trim(app).unwrap();
    assert_eq!(fixture.count(), 1);
    app.clock().jump(now);
    fixture.server.pass(limits::NOTICE_KEPT_MS);
    trim(app).unwrap();
    assert_eq!(fixture.count(), 1);
    fixture.server.pass(1);
    trim(app).unwrap();
    assert_eq!(fixture.count(), 0);
}

#[test]
fn the_progress_of_a_notice_is_stored() {
    let fixture = Fixture::new();
    let app = fixture.server.app();
    fixture.server.post(&format!("{}/incidents", fixture.page), &incident()).whole(201);
    let [notice] = pending(app).unwrap().try_into().unwrap();
    assert_eq!((notice.page, notice.enqueued_until), (id_of_page(&fixture.page), None));
    let until = SubscriberId(7);
    enqueued_until(app, &notice.key, until).unwrap();
    let [notice] = pending(app).unwrap().try_into().unwrap();
    assert_eq!(notice.enqueued_until, Some(until));
    finish(app, &notice.key).unwrap();
    assert_eq!(pending(app).unwrap(), []);
    finish(app, "missing").unwrap();
}

#[test]
fn pending_notices_of_one_page_do_not_keep_others_from_notifying() {
    let fixture = Fixture::new();
    let notify = |path: &str| {
        let body = json!({"title": "Slow", "message": "Look.", "notify_subscribers": true});
        fixture.server.post(&format!("{path}/incidents"), &body)
    };
    let other = page(&fixture.server, "other", &[]);
    fixture.server.app().status().subscribers().add_confirmed(id_of_page(&other), 90..91);
    let shop = id_of_page(&fixture.page);
    fixture.insert(limits::NOTICES_PENDING_OF_PAGE_MAX, |_| shop);
    notify(&fixture.page).refused(409, "conflict", "");
    notify(&other).whole(201);
}

#[test]
fn maintenances_of_a_full_page_do_not_keep_those_of_others_from_being_announced() {
    let mut fixture = Fixture::new();
    let max = limits::NOTICES_PENDING_OF_PAGE_MAX;
    let begun = json!({"starts_at": "2026-01-02T03:00:00Z"});
    let id = |path: &str| path.rsplit('/').next().unwrap().to_owned();
    let mut waiting: Vec<String> = (0..3).map(|_| id(&fixture.maintain(&begun))).collect();
    waiting.sort();
    let shop = id_of_page(&fixture.page);
    fixture.page = page(&fixture.server, "other", &[&fixture.monitor]);
    let other = id_of_page(&fixture.page);
    fixture.server.app().status().subscribers().add_confirmed(other, 90..91);
    let announced = id(&fixture.maintain(&begun));
    // There is space for one more.
    fixture.insert(max - 1, |_| shop);
    let app = fixture.server.app();
    let begun_of = |fixture: &Fixture| -> Vec<String> {
        let begun = fixture.pending().into_iter();
        begun.filter_map(|key| Some(key.split_once("-begun-")?.0.to_owned())).collect()
    };
    maintenance::record_due(app, &mut fixture.announced, app.now()).unwrap_err();
    let recorded = begun_of(&fixture);
    assert!(recorded.contains(&announced) && recorded.contains(&waiting[0]), "{recorded:?}");
    assert_eq!((recorded.len(), fixture.announced.len()), (2, 2));
    // Nothing changes while the page is full, and the rest follows.
    let before = fixture.generation();
    maintenance::record_due(app, &mut fixture.announced, app.now()).unwrap_err();
    assert_eq!(fixture.generation(), before);
    (0..2).for_each(|i| finish(app, &format!("n{i:05}")).unwrap());
    maintenance::record_due(app, &mut fixture.announced, app.now()).unwrap();
    assert_eq!((begun_of(&fixture).len(), fixture.announced.len()), (4, 4));
}

#[test]
fn a_maintenance_can_be_ended_though_there_is_no_space_for_its_notice() {
    let fixture = Fixture::new();
    let begun = json!({"starts_at": "2026-01-02T03:00:00Z"});
    let [planned, current, deleted] =
        [&json!({}), &begun, &begun].map(|change| fixture.maintain(change));
    let shop = id_of_page(&fixture.page);
    fixture.insert(limits::NOTICES_PENDING_OF_PAGE_MAX, |_| shop);
    let count = fixture.count();
    let longer = json!({"ends_at": "2026-01-02T06:00:00Z"});
    patch(&fixture.server, &planned, &longer).refused(409, "conflict", "");
    fixture.server.delete(&planned).whole(200);
    fixture.server.delete(&deleted).whole(200);
    let ended = patch(&fixture.server, &current, &json!({"ends_at": "2026-01-02T03:04:05Z"}));
    assert_eq!(ended.whole(200)["status"], "completed");
    assert_eq!(fixture.count(), count);
}
