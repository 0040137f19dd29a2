//! Subscribers and their mails. No worker of the server runs: the tests take the jobs themselves.
//! Now is Friday, 2026-01-02T03:04:05.678Z.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use telltale_engine::{Expect, TimestampMs};
use tokio::runtime::Runtime;

use super::examples::subscriber;
use super::model::Subscriber;
use super::table::SubscriberTable;
use super::work::{MAIL, MailItem, MailOutcome, compose, record_outcome};
use super::{Subscribing, enqueue_mails, expire, subscribe};
use crate::app::App;
use crate::areas::status::documents::StoredResource as _;
use crate::areas::status::ids::{PageId, SubscriberId};
use crate::areas::status::pages::Page;
use crate::areas::status::testing::{id_of_page, mailing, page};
use crate::areas::status::{limits, notices};
use crate::areas::testing::{NOW, TestServer};
use crate::jobs::work::WorkKind;
use crate::jobs::{NewWorker, QueueName};
use crate::limits::OWN_JOBS_RESERVE;

const DAY_MS: i64 = 86_400_000;
/// Other work of the server.
const OTHER: WorkKind<OtherItem> = WorkKind::new("telltale.test", "telltale-test");

#[derive(Debug, Serialize, Deserialize)]
struct OtherItem {}

/// A page of a server that sends mail.
struct Fixture {
    server: TestServer,
    page: PageId,
    path: String,
}

impl Fixture {
    fn new(waiting_max: usize) -> Self {
        let server = mailing(waiting_max);
        let path = page(&server, "shop", &[]);
        Self { page: id_of_page(&path), server, path }
    }

    fn app(&self) -> &App {
        self.server.app()
    }

    fn table(&self) -> &SubscriberTable {
        self.app().status().subscribers()
    }

    fn subscribe(&self, email: &str) {
        let email = email.to_owned();
        subscribe(self.app(), Subscribing { page: self.page, email, from: None }).unwrap();
    }

    fn only(&self) -> Subscriber {
        let [one] = self.table().of_page(self.page).try_into().unwrap();
        Subscriber::clone(&one)
    }

    /// Notifies the subscribers of an incident.
    fn notify(&self) {
        let body = json!({"title": "Slow", "message": "Look.", "notify_subscribers": true});
        self.server.post(&format!("{}/incidents", self.path), &body).whole(201);
    }

    fn mails(&self) -> Vec<MailItem> {
        let mails = take(self.app(), MAIL.queue).into_iter();
        mails.map(|item| serde_json::from_value(item).unwrap()).collect()
    }

    /// Returns whether the job of a mail would send one.
    fn has_message(&self, item: &MailItem) -> bool {
        let from = self.app().status().mailer().unwrap().sender();
        compose(self.app(), item, from).unwrap().is_some()
    }
}

/// Takes all jobs of a queue, finishes them and returns their arguments.
fn take(app: &App, queue: &str) -> Vec<Value> {
    let jobs = app.jobs();
    Runtime::new().unwrap().block_on(async {
        let queues = vec![QueueName::own(queue).unwrap()];
        let about = NewWorker { hostname: "test".into(), pid: None, queues, concurrency: 1_000 };
        let worker = jobs.register(about).await.unwrap().id;
        let mut taken = Vec::new();
        loop {
            let granted = jobs.fetch(worker, 100, Duration::ZERO).await.unwrap().keep();
            if granted.is_empty() {
                break;
            }
            let acks = granted.iter().map(|job| jobs.ack(job.id, Some(job.token)));
            join_all(acks).await.into_iter().for_each(|acked| acked.unwrap());
            taken.extend(granted.iter().map(|job| serde_json::from_str(&job.arguments).unwrap()));
        }
        jobs.deregister(worker).await.unwrap();
        taken
    })
}

fn add_other(app: &App, count: usize) {
    let keys: Vec<String> = (0..count).map(|i| i.to_string()).collect();
    let item = OtherItem {};
    let items = keys.iter().map(|key| (&item, key.as_str()));
    assert_eq!(OTHER.enqueue_all_once(app.jobs(), items).unwrap(), count);
}

fn subscriber_of(item: &MailItem) -> String {
    serde_json::to_value(item).unwrap()["subscriber"].as_str().unwrap().to_owned()
}

#[test]
fn subscribers_of_a_page_that_cannot_be_read_are_kept() {
    let fixture = Fixture::new(1_000);
    let (app, id) = (fixture.app(), fixture.page.text());
    fixture.table().add_confirmed(fixture.page, 1..3);
    let mut transaction = app.engine().documents().begin();
    transaction.put(Page::COLLECTION, &id, &json!({"of": "another"}), Expect::Any).unwrap();
    transaction.commit().unwrap();
    // The pages are read again.
    page(&fixture.server, "other", &[]);
    app.status().pages(app).unwrap().page(fixture.page).unwrap_err();
    expire(app).unwrap();
    assert_eq!(fixture.table().of_page(fixture.page).len(), 2);
    let mut transaction = app.engine().documents().begin();
    transaction.delete(Page::COLLECTION, &id, Expect::Any);
    transaction.commit().unwrap();
    expire(app).unwrap();
    assert_eq!(fixture.table().pages(), []);
}

#[test]
fn unconfirmed_addresses_are_deleted_by_the_trusted_time() {
    let fixture = Fixture::new(1_000);
    let app = fixture.app();
    fixture.subscribe("ann@example.com");
    // A clock that is wrong deletes nothing.
    app.clock().jump(TimestampMs(NOW.0 + 100 * DAY_MS));
    expire(app).unwrap();
    app.clock().jump(NOW);
    fixture.server.pass(limits::UNCONFIRMED_KEPT_MS);
    expire(app).unwrap();
    assert_eq!(fixture.only().email, "ann@example.com");
    fixture.server.pass(1);
    expire(app).unwrap();
    assert_eq!(fixture.table().pages(), []);
}

#[test]
fn each_subscriber_gets_one_mail_about_a_notice_and_few_wait_at_a_time() {
    let fixture = Fixture::new(1_000_000);
    let (app, max) = (fixture.app(), limits::SUBSCRIBER_MAILS_UNFINISHED_MAX);
    let all = max + limits::SUBSCRIBER_MAILS_PER_WRITE + 1;
    fixture.table().add_confirmed(fixture.page, 0..all as u128);
    fixture.notify();
    enqueue_mails(app).unwrap();
    enqueue_mails(app).unwrap();
    let queue = || app.jobs().queue_blocking(QueueName::own(MAIL.queue).unwrap()).unwrap();
    assert_eq!(queue().ready, max);
    let first = fixture.mails();
    // As after a restart: all that is known is what is stored with the notice.
    let [pending] = notices::pending(app).unwrap().try_into().unwrap();
    assert_eq!(pending.enqueued_until, Some(SubscriberId(max as u128 - 1)));
    enqueue_mails(app).unwrap();
    let second = fixture.mails();
    enqueue_mails(app).unwrap();
    assert_eq!((first.len(), second.len(), queue().ready), (max, all - max, 0));
    let mailed: BTreeSet<String> = first.iter().chain(&second).map(subscriber_of).collect();
    assert_eq!(mailed.len(), all);
    assert_eq!(notices::pending(app).unwrap(), []);
}

#[test]
fn no_mail_is_repeated_or_left_out_when_jobs_are_refused() {
    let fixture = Fixture::new(1);
    let (app, places) = (fixture.app(), 51);
    let all = 2 * limits::SUBSCRIBER_MAILS_PER_WRITE + 1;
    fixture.table().add_confirmed(fixture.page, 0..all as u128);
    fixture.notify();
    add_other(app, 1 + OWN_JOBS_RESERVE - places);
    enqueue_mails(app).unwrap_err();
    let early = fixture.mails();
    assert_eq!(early.len(), places);
    for item in &early {
        assert!(fixture.has_message(item));
        record_outcome(app, item, MailOutcome::Accepted).unwrap();
    }
    let [pending] = notices::pending(app).unwrap().try_into().unwrap();
    assert_eq!(pending.enqueued_until, None);
    take(app, OTHER.queue);
    enqueue_mails(app).unwrap();
    let rest: BTreeSet<String> = fixture
        .mails()
        .iter()
        .filter(|item| fixture.has_message(item))
        .map(subscriber_of)
        .collect();
    assert_eq!(rest.len(), all - places);
    assert!(early.iter().all(|item| !rest.contains(&subscriber_of(item))));
}

#[test]
fn pages_with_many_subscribers_leave_places_to_others() {
    let fixture = Fixture::new(1_000_000);
    let max = limits::SUBSCRIBER_MAILS_UNFINISHED_MAX;
    let other = page(&fixture.server, "other", &[]);
    fixture.table().add_confirmed(fixture.page, 0..max as u128);
    fixture.table().add_confirmed(id_of_page(&other), 1_000..1_001);
    fixture.notify();
    let body = json!({"title": "Slow", "message": "Look.", "notify_subscribers": true});
    fixture.server.post(&format!("{other}/incidents"), &body).whole(201);
    enqueue_mails(fixture.app()).unwrap();
    let mailed: Vec<String> = fixture.mails().iter().map(subscriber_of).collect();
    assert!(mailed.contains(&SubscriberId(1_000).text()));
}

#[test]
fn a_confirmation_mail_that_could_not_be_enqueued_is_enqueued_later() {
    let fixture = Fixture::new(1);
    let app = fixture.app();
    add_other(app, 1 + OWN_JOBS_RESERVE);
    let path = "/status/shop/api/v1/subscribers";
    let body = json!({"email": "ann@example.com"});
    fixture.server.post(path, &body).whole(202);
    enqueue_mails(app).unwrap_err();
    assert!(fixture.only().is_asking);
    fixture.server.post(path, &body).whole(202);
    take(app, OTHER.queue);
    enqueue_mails(app).unwrap();
    let [item] = fixture.mails().try_into().unwrap();
    assert!(fixture.has_message(&item));
    assert_eq!(subscriber_of(&item), fixture.only().id.text());
    enqueue_mails(app).unwrap();
    assert_eq!((fixture.mails().len(), fixture.only().is_asking), (0, false));
    // Another one comes when it is asked for later, and none after the confirmation.
    fixture.server.pass(limits::CONFIRMATION_PAUSE_MS);
    fixture.server.post(path, &body).whole(202);
    let key = fixture.only().key();
    enqueue_mails(app).unwrap();
    let [item] = fixture.mails().try_into().unwrap();
    fixture.table().change(key, |found| Some(found.confirmed(NOW))).unwrap();
    assert!(!fixture.has_message(&item));
}

#[test]
fn known_and_unknown_addresses_are_refused_alike() {
    let fixture = Fixture::new(1_000);
    let path = "/status/shop/api/v1/subscribers";
    let ask = |email: &str| fixture.server.post(path, &json!({"email": email}));
    ask("ann@example.com").whole(202);
    let others = 1..limits::UNCONFIRMED_OF_PAGE_MAX as u128;
    fixture.table().add(others.map(|id| subscriber(fixture.page.0, id)).collect());
    for email in ["ann@example.com", "new@example.com"] {
        ask(email).refused(503, "overloaded", "");
    }
    // Another page is open.
    let other = id_of_page(&page(&fixture.server, "other", &[]));
    let email = "new@example.com".to_owned();
    subscribe(fixture.app(), Subscribing { page: other, email, from: None }).unwrap();
}

#[test]
fn a_subscription_ends_after_three_refusals_in_a_row() {
    let fixture = Fixture::new(1_000);
    let app = fixture.app();
    fixture.table().add_confirmed(fixture.page, 7..8);
    let item = MailItem::new(fixture.page, SubscriberId(7), None);
    let bounce = || {
        record_outcome(app, &item, MailOutcome::Bounced).unwrap();
        record_outcome(app, &item, MailOutcome::Bounced).unwrap();
        fixture.server.pass(limits::BOUNCE_PAUSE_MS);
    };
    bounce();
    bounce();
    let reopened = SubscriberTable::open(app.engine().clone()).unwrap();
    assert_eq!(reopened.of_page(fixture.page)[0].bounces, 2, "it is durable");
    record_outcome(app, &item, MailOutcome::Refused).unwrap();
    record_outcome(app, &item, MailOutcome::Accepted).unwrap();
    assert_eq!(fixture.only().bounces, 0);
    bounce();
    bounce();
    assert_eq!(fixture.only().bounces, 2);
    bounce();
    assert_eq!(fixture.table().of_page(fixture.page), []);
}
