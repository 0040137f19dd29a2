//! Errors: the cost of many error groups, through the routes of the server without sockets.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use telltale_engine::{Clock, Memory};
use telltale_server::app::App;
use telltale_server::areas;
use telltale_server::areas::errors::ErrorSettings;
use telltale_server::config::Config;
use telltale_server::http::{Origin, Server};
use telltale_server::limits::ENVELOPE_ITEMS_MAX;
use telltale_server::platform::settings::Auto;
use telltale_server::platform::ticks::Ticks;
use tokio::runtime::{Builder, Runtime};

use crate::case::{Case, Operation};
use crate::open_engine::{self, NOW};

/// Occurrences after which counts are stored: a server stores them each second.
const STORED: usize = 10_000;
/// Groups that are deleted one by one: one page.
const DELETED: usize = 1_000;

/// Error groups with one occurrence each.
#[derive(Debug)]
pub(crate) struct ErrorGroups;

/// A service that is closed and opened again between operations.
#[derive(Debug)]
pub(crate) struct OpenErrors {
    dir: PathBuf,
    runtime: Runtime,
    open: Option<(Arc<App>, Arc<Server>)>,
    /// The number of occurrences sent, from which their ids are derived.
    sent: usize,
}

impl OpenErrors {
    fn new(dir: &Path) -> Self {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let mut open = Self { dir: dir.to_owned(), runtime, open: None, sent: 0 };
        open.start();
        open
    }

    fn start(&mut self) {
        let errors = ErrorSettings {
            // As many as the sweep needs; the default of the setting is a hundred thousand.
            groups_max: Auto::Set(usize::MAX),
            new_groups_per_hour: u64::MAX,
            ..ErrorSettings::default()
        };
        let config = Config { errors, ..Config::default() };
        let settings = config.http_settings(&Memory::unlimited());
        let (engine, clock) = (open_engine::open(&self.dir), Clock::manual(NOW));
        let ticks = Ticks::following(clock.clone());
        let app = App::new(engine, clock.clone(), ticks.clone(), &config).unwrap();
        let server = Server::new(settings, clock, ticks, areas::routes()).unwrap();
        server.open(Arc::clone(&app)).unwrap();
        self.open = Some((app, server));
    }

    fn close(&mut self) {
        let (app, _server) = self.open.take().unwrap();
        app.jobs().close();
        app.errors().close().unwrap();
        app.engine().close().unwrap();
    }

    fn app(&self) -> &App {
        &self.open.as_ref().unwrap().0
    }

    /// Sends a request and returns the body of the response.
    fn call(&self, method: Method, path: &str, body: String) -> String {
        let server = &self.open.as_ref().unwrap().1;
        let body = Full::new(Bytes::from(body));
        let request = Request::builder().method(method).uri(path).body(body).unwrap();
        self.runtime.block_on(async {
            let (head, body) = server.handle(Origin::Control, request).await.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            let text = String::from_utf8(body.to_vec()).unwrap();
            assert!(head.status.is_success(), "{path}: {} {text}", head.status);
            text
        })
    }

    /// Sends one occurrence of each group.
    fn occur(&mut self, groups: usize, after_each: impl Fn(&App)) {
        for first in (0..groups).step_by(ENVELOPE_ITEMS_MAX) {
            let mut envelope = String::from("{}\n");
            for group in first..groups.min(first + ENVELOPE_ITEMS_MAX) {
                let id = self.sent;
                self.sent += 1;
                write!(
                    envelope,
                    "{{\"type\":\"event\"}}\n{{\"event_id\":\"{id:032x}\",\"level\":\"error\",\"user\":{{\"id\":{group}}},\
                     \"exception\":{{\"type\":\"Error{group}\",\"value\":\"something went wrong\"}}}}\n"
                )
                .unwrap();
            }
            self.call(Method::POST, "/api/1/envelope/", envelope);
            if (first + ENVELOPE_ITEMS_MAX).is_multiple_of(STORED) {
                after_each(self.app());
            }
        }
        assert_eq!(self.app().errors().groups(), groups);
    }

    fn admit(&mut self, groups: usize) {
        self.occur(groups, |app| app.errors().store().unwrap());
    }

    /// Closes the service without storing: the last counts are computed again from the events.
    fn kill_and_start(&mut self) {
        self.open = None;
        self.start();
    }

    fn list(&self, groups: usize) {
        for query in ["", "?sort=occurrences", "?search=error7", "?status=unresolved&limit=1000"] {
            let page = self.call(Method::GET, &format!("/api/v1/errors{query}"), String::new());
            assert!(page.contains("\"total\":"), "{groups}: {page}");
        }
    }

    /// Changes all groups in one request.
    fn all(&self, action: &str) {
        let body = format!("{{\"action\":\"{action}\",\"filter\":{{}},\"confirm\":true}}");
        self.call(Method::POST, "/api/v1/errors/bulk", body);
    }

    fn delete_some(&self) {
        let path = format!("/api/v1/errors?limit={DELETED}");
        let page = self.call(Method::GET, &path, String::new());
        let ids: Vec<&str> = page.split('"').filter(|text| text.starts_with("err_")).collect();
        assert!(!ids.is_empty());
        for id in ids {
            self.call(Method::DELETE, &format!("/api/v1/errors/{id}"), String::new());
        }
    }

    fn delete_all(&self) {
        self.all("delete");
        assert_eq!(self.app().errors().groups(), 0);
    }
}

impl Case for ErrorGroups {
    type Open = OpenErrors;

    fn dimension(&self) -> &'static str {
        "error-groups"
    }

    fn open(&self, dir: &Path) -> OpenErrors {
        OpenErrors::new(dir)
    }

    fn operations(&self) -> Vec<Operation<Self>> {
        vec![
            Operation::<Self>::new("admit", |_, open, size| open.admit(size)),
            Operation::<Self>::new("close", |_, open, _| open.close()),
            Operation::<Self>::new("start", |_, open, _| open.start()),
            Operation::<Self>::new("occur again", |_, open, size| open.occur(size, |_| {})),
            Operation::<Self>::new("start after a kill", |_, open, _| open.kill_and_start()),
            Operation::<Self>::new("store", |_, open, _| open.app().errors().store().unwrap()),
            Operation::<Self>::new("list", |_, open, size| open.list(size)),
            Operation::<Self>::new("resolve all", |_, open, _| open.all("resolve")),
            Operation::<Self>::new("delete some", |_, open, _| open.delete_some()),
            Operation::<Self>::new("delete all", |_, open, _| open.delete_all()),
            Operation::<Self>::new("delete events", |_, open, _| {
                open.app().errors().delete_events().unwrap();
            }),
        ]
    }
}
