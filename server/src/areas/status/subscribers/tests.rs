//! Subscribers and their mails. No worker of the server runs: the tests take the jobs themselves.
//! Now is Friday, 2026-01-02T03:04:05.678Z.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Duration;

use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use telltale_engine::{Expect, TimestampMs};
use tokio::runtime::Runtime;

use super::examples::subscriber;
use super::model::Subscriber;
use super::table::SubscriberTable;
use super::work::{CONFIRM, MAIL, MailItem, MailOutcome, compose, record_outcome};
use super::{Subscribing, enqueue_mails, expire, subscribe};
use crate::app::App;
use crate::areas::status::documents::StoredResource as _;
use crate::areas::status::error::StatusError;
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
    served: Cell<Option<PageId>>,
}

impl Fixture {
    fn new(waiting_max: usize) -> Self {
        let server = mailing(waiting_max);
        let path = page(&server, "shop", &[]);
        Self { page: id_of_page(&path), server, path, served: Cell::new(None) }
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

    /// Adds another page with these subscribers.
    fn other(&self, subdomain: &str, subscribers: Range<u128>) -> String {
        let path = page(&self.server, subdomain, &[]);
        self.table().add_confirmed(id_of_page(&path), subscribers);
        path
    }

    /// Notifies the subscribers of a page of an incident.
    fn notify(&self, path: &str) {
        let body = json!({"title": "Slow", "message": "Look.", "notify_subscribers": true});
        self.server.post(&format!("{path}/incidents"), &body).whole(201);
    }

    /// Runs the sweep.
    fn try_enqueue(&self) -> Result<(), StatusError> {
        let mut served = self.served.get();
        let enqueued = enqueue_mails(self.app(), &mut served);
        self.served.set(served);
        enqueued
    }

    fn enqueue(&self) {
        self.try_enqueue().unwrap();
    }

    /// Sends the mails about notices: finishes their jobs.
    fn mails(&self) -> Vec<MailItem> {
        self.take(&MAIL)
    }

    fn confirmations(&self) -> Vec<MailItem> {
        self.take(&CONFIRM)
    }

    fn take(&self, kind: &WorkKind<MailItem>) -> Vec<MailItem> {
        let mails = take(self.app(), kind.queue).into_iter();
        mails.map(|item| serde_json::from_value(item).unwrap()).collect()
    }

    /// Leaves so many places for mails.
    fn leave(&self, kind: &WorkKind<MailItem>, places: usize, max: usize) {
        let item = |i| MailItem::new(PageId(0), SubscriberId(i), Some("other".to_owned()));
        let items: Vec<MailItem> = (0..(max - places) as u128).map(item).collect();
        let keys: Vec<String> = items.iter().map(MailItem::unique_key).collect();
        let items = items.iter().zip(keys.iter().map(String::as_str));
        kind.enqueue_all_once(self.app().jobs(), items).unwrap();
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
    fixture.notify(&fixture.path);
    fixture.enqueue();
    fixture.enqueue();
    let queue = || app.jobs().queue_blocking(QueueName::own(MAIL.queue).unwrap()).unwrap();
    assert_eq!(queue().ready, max);
    let first = fixture.mails();
    // As after a restart: all that is known is what is stored with the notice.
    let [pending] = notices::pending(app).unwrap().try_into().unwrap();
    assert_eq!(pending.enqueued_until, Some(SubscriberId(max as u128 - 1)));
    fixture.enqueue();
    let second = fixture.mails();
    fixture.enqueue();
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
    fixture.notify(&fixture.path);
    add_other(app, 1 + OWN_JOBS_RESERVE - places);
    let mut mailed = BTreeSet::new();
    // Each round continues where the last one was refused.
    for round in 1..=all / places {
        fixture.try_enqueue().unwrap_err();
        let mails = fixture.mails();
        assert_eq!(mails.len(), places, "{round}");
        assert!(mails.iter().all(|mail| mailed.insert(subscriber_of(mail))), "{round}");
        let [pending] = notices::pending(app).unwrap().try_into().unwrap();
        assert_eq!(pending.enqueued_until, Some(SubscriberId((round * places) as u128 - 1)));
    }
    take(app, OTHER.queue);
    fixture.enqueue();
    let rest = fixture.mails();
    assert!(rest.iter().all(|mail| mailed.insert(subscriber_of(mail))));
    assert_eq!((rest.len(), mailed.len()), (all % places, all));
    assert_eq!(notices::pending(app).unwrap(), []);
}

#[test]
fn a_mail_about_a_notice_is_sent_once_though_its_job_is_repeated() {
    let fixture = Fixture::new(1_000);
    fixture.table().add_confirmed(fixture.page, 0..1);
    fixture.notify(&fixture.path);
    fixture.enqueue();
    let [item] = fixture.mails().try_into().unwrap();
    assert!(fixture.has_message(&item));
    record_outcome(fixture.app(), &item, MailOutcome::Accepted).unwrap();
    assert!(!fixture.has_message(&item));
}

#[test]
fn pages_with_many_subscribers_leave_places_to_others() {
    let fixture = Fixture::new(1_000_000);
    let max = limits::SUBSCRIBER_MAILS_UNFINISHED_MAX;
    let other = fixture.other("other", 1_000..1_001);
    fixture.table().add_confirmed(fixture.page, 0..max as u128);
    fixture.notify(&fixture.path);
    fixture.notify(&other);
    fixture.enqueue();
    let mailed: Vec<String> = fixture.mails().iter().map(subscriber_of).collect();
    assert!(mailed.contains(&SubscriberId(1_000).text()));
}

#[test]
fn all_pages_have_their_turn_if_places_are_scarce() {
    let fixture = Fixture::new(1_000_000);
    fixture.table().add_confirmed(fixture.page, 0..10);
    let others = [fixture.other("b", 100..110), fixture.other("c", 200..210)];
    fixture.notify(&fixture.path);
    others.iter().for_each(|path| fixture.notify(path));
    let max = limits::SUBSCRIBER_MAILS_UNFINISHED_MAX;
    let mut mailed = BTreeSet::new();
    for _ in 0..3 {
        fixture.leave(&MAIL, 2, max);
        fixture.enqueue();
        let of_notices = fixture.mails().split_off(max - 2);
        mailed.extend(of_notices.iter().map(subscriber_of));
    }
    // Two of each page.
    let expected = [0, 1, 100, 101, 200, 201].map(|id| SubscriberId(id).text());
    assert_eq!(mailed, BTreeSet::from(expected));
}

#[test]
fn mails_that_ask_for_confirmation_do_not_delay_those_about_notices() {
    let fixture = Fixture::new(1_000_000);
    fixture.table().add_confirmed(fixture.page, 0..1);
    let asking = |id| Subscriber { is_asking: true, ..subscriber(fixture.page.0, id) };
    let max = limits::CONFIRMATIONS_UNFINISHED_MAX;
    fixture.table().add((1..=2 * max as u128).map(asking).collect());
    fixture.leave(&CONFIRM, 1, max);
    fixture.enqueue();
    fixture.notify(&fixture.path);
    // The mail server accepts none of them.
    fixture.enqueue();
    assert_eq!(fixture.mails().len(), 1);
    assert_eq!(fixture.table().asking(usize::MAX).len(), 2 * max - 1);
    assert_eq!(fixture.confirmations().len(), max);
    // The oldest come first, of whatever page.
    let other = id_of_page(&page(&fixture.server, "other", &[]));
    fixture.table().add(vec![Subscriber { is_asking: true, ..subscriber(other.0, 0) }]);
    fixture.enqueue();
    let mailed: Vec<String> = fixture.confirmations().iter().map(subscriber_of).collect();
    let expected = [0].into_iter().chain(2..=max as u128);
    assert!(mailed.into_iter().eq(expected.map(|id| SubscriberId(id).text())));
}

#[test]
fn no_confirmation_mail_is_repeated_when_others_are_refused() {
    let fixture = Fixture::new(1);
    let app = fixture.app();
    let asking = |id| Subscriber { is_asking: true, ..subscriber(fixture.page.0, id) };
    fixture.table().add((1..=5).map(asking).collect());
    add_other(app, 1 + OWN_JOBS_RESERVE - 2);
    let mut mailed = Vec::new();
    for _ in 0..2 {
        fixture.try_enqueue().unwrap_err();
        mailed.extend(fixture.confirmations().iter().map(subscriber_of));
    }
    let reopened = SubscriberTable::open(app.engine().clone()).unwrap();
    assert_eq!(reopened.asking(9), [(fixture.page, SubscriberId(5))], "it is durable");
    fixture.enqueue();
    mailed.extend(fixture.confirmations().iter().map(subscriber_of));
    fixture.enqueue();
    assert_eq!(fixture.confirmations().len(), 0);
    assert!(mailed.into_iter().eq((1..=5).map(|id| SubscriberId(id).text())));
}

#[test]
fn a_confirmation_mail_that_could_not_be_enqueued_is_enqueued_later() {
    let fixture = Fixture::new(1);
    let app = fixture.app();
    add_other(app, 1 + OWN_JOBS_RESERVE);
    let path = "/status/shop/api/v1/subscribers";
    let body = json!({"email": "ann@example.com"});
    fixture.server.post(path, &body).whole(202);
    fixture.try_enqueue().unwrap_err();
    assert!(fixture.only().is_asking);
    fixture.server.post(path, &body).whole(202);
    take(app, OTHER.queue);
    fixture.enqueue();
    let [item] = fixture.confirmations().try_into().unwrap();
    assert!(fixture.has_message(&item));
    assert_eq!(subscriber_of(&item), fixture.only().id.text());
    fixture.enqueue();
    assert_eq!((fixture.confirmations().len(), fixture.only().is_asking), (0, false));
    // Another one comes when it is asked for later, and none after the confirmation.
    fixture.server.pass(limits::CONFIRMATION_PAUSE_MS);
    fixture.server.post(path, &body).whole(202);
    let key = fixture.only().key();
    fixture.enqueue();
    let [item] = fixture.confirmations().try_into().unwrap();
    fixture.table().change(key, |found| Some(found.confirmed(NOW))).unwrap();
    assert!(!fixture.has_message(&item));
}

#[test]
fn known_and_unknown_addresses_are_refused_alike() {
    let fixture = Fixture::new(1_000);
    let path = "/status/shop/api/v1/subscribers";
    let ask = |email: &str| fixture.server.post(path, &json!({"email": email}));
    ask("ann@example.com").whole(202);
    let asking = |id| Subscriber { is_asking: true, ..subscriber(fixture.page.0, id) };
    let others = 1..limits::UNCONFIRMED_OF_PAGE_MAX as u128;
    fixture.table().add(others.map(asking).collect());
    for email in ["ann@example.com", "new@example.com"] {
        ask(email).refused(503, "overloaded", "");
    }
    // Another page is open.
    let other = id_of_page(&page(&fixture.server, "other", &[]));
    let email = "new@example.com".to_owned();
    subscribe(fixture.app(), Subscribing { page: other, email, from: None }).unwrap();
}

#[test]
fn addresses_that_nobody_confirms_do_not_close_a_page() {
    let fixture = Fixture::new(1_000);
    let max = limits::UNCONFIRMED_OF_PAGE_MAX;
    let others = 1..=max as u128;
    fixture.table().add(others.map(|id| subscriber(fixture.page.0, id)).collect());
    for email in ["user7@example.com", "new@example.com"] {
        let body = json!({"email": email});
        fixture.server.post("/status/shop/api/v1/subscribers", &body).whole(202);
    }
    let emails: Vec<String> =
        fixture.table().of_page(fixture.page).iter().map(|one| one.email.clone()).collect();
    assert_eq!((emails.len(), emails[0].as_str()), (max, "new@example.com"));
    // A known one takes no place, and a new one that of the oldest.
    assert_eq!(emails[max - 1], "user2@example.com");
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
