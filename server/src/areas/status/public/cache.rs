//! What visitors of status pages get, kept for some seconds: rendered once for all of them, and
//! compressed once.
//!
//! Pages are rendered one after the other, so that strangers cannot keep the server busy with it,
//! each by a task of its own: it goes on when visitors hang up, and they get what it makes next
//! time. While a page is rendered, its visitors get the one before, unless the page or what belongs
//! to it was changed: this is seen at once, a change of a monitor within a second.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::{Semaphore, watch};

use super::rendered::RenderedPage;
use crate::app::App;
use crate::areas::status::ids::PageId;
use crate::areas::status::limits;
use crate::areas::status::page_directory::PageEntry;
use crate::http::{ApiError, ApiResult};

/// How long a rendered page is fresh.
const FRESH: Duration = Duration::from_secs(10);
/// How often a page is rendered again because a monitor changed.
const PAUSE: Duration = Duration::from_secs(1);
/// How long it is served while it is rendered again.
const STALE: Duration = Duration::from_secs(20);
/// How long a rendered page is kept that nobody asks for.
const KEPT: Duration = Duration::from_secs(60);
/// How often a visitor waits for a page that is rendered as it was before a change.
const WAITS_MAX: usize = 3;

/// How a page is reached: its links begin differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Reached {
    /// Under a host name of its own.
    ByHost,
    /// Below the path of status pages.
    ByPath,
}

/// The rendered pages.
#[derive(Debug)]
pub(in crate::areas::status) struct PublicCache {
    state: Mutex<State>,
    /// Held while a page is rendered.
    rendering: Semaphore,
    bytes: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    kept: HashMap<Key, Kept>,
    /// What is rendered now.
    pending: HashMap<Key, Outcome>,
}

type Key = (PageId, Reached);

/// What becomes of a page that is rendered; closed without a value if it could not be.
type Outcome = watch::Receiver<Option<Arc<RenderedPage>>>;

#[derive(Clone, Debug)]
struct Kept {
    page: Arc<RenderedPage>,
    version: PageVersion,
    rendered_at: Duration,
}

/// Changes when something does that a page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PageVersion {
    /// Of the page and what belongs to it.
    documents: u64,
    /// Of its monitors.
    monitors: u64,
    /// Of all monitors: nothing changed if this is the same.
    all_monitors: u64,
}

/// What to do for a visitor.
enum Next {
    Respond(Arc<RenderedPage>),
    Wait(Outcome),
    Render(watch::Sender<Option<Arc<RenderedPage>>>),
}

/// Removes a page from those that are rendered, also if that fails.
struct Pending {
    app: Arc<App>,
    key: Key,
}

impl Default for PublicCache {
    fn default() -> Self {
        Self { state: Mutex::default(), rendering: Semaphore::new(1), bytes: AtomicU64::new(0) }
    }
}

impl PublicCache {
    /// Returns a page as it is now, or was some seconds ago. `render` blocks.
    pub(super) async fn get(
        &self,
        app: &Arc<App>,
        entry: &PageEntry,
        reached: Reached,
        render: fn(&App, &PageEntry, Reached) -> ApiResult<RenderedPage>,
    ) -> ApiResult<Arc<RenderedPage>> {
        let mut waits = 0;
        loop {
            let mut outcome = match self.next(app, entry, reached, waits) {
                Next::Respond(page) => return Ok(page),
                Next::Wait(outcome) => outcome,
                Next::Render(sender) => {
                    let outcome = sender.subscribe();
                    tokio::spawn(render_and_keep(
                        Arc::clone(app),
                        entry.clone(),
                        reached,
                        render,
                        sender,
                    ));
                    // As it is now, whatever changes meanwhile.
                    waits = WAITS_MAX;
                    outcome
                }
            };
            waits += 1;
            let failed = |_| ApiError::internal("the status page was not rendered");
            let page = outcome.wait_for(Option::is_some).await.map_err(failed)?.clone();
            if let (true, Some(page)) = (waits > WAITS_MAX, page) {
                return Ok(page);
            }
        }
    }

    fn next(&self, app: &App, entry: &PageEntry, reached: Reached, waits: usize) -> Next {
        let key = (entry.page.id, reached);
        let mut state = self.state.lock();
        // Versions only grow: another visitor may have seen a change that this one did not.
        let kept = state.kept.get(&key).filter(|kept| kept.version.documents >= entry.version);
        let is_pending = state.pending.contains_key(&key);
        if let Some(kept) = kept
            && (waits > 0 || kept.is_fresh(app, entry) || is_pending && kept.age(app) < STALE)
        {
            return Next::Respond(Arc::clone(&kept.page));
        }
        if let Some(pending) = state.pending.get(&key) {
            return Next::Wait(pending.clone());
        }
        let (sender, outcome) = watch::channel(None);
        state.pending.insert(key, outcome);
        Next::Render(sender)
    }

    fn keep(&self, key: Key, kept: Kept) {
        let (now, mut left) = (kept.rendered_at, limits::RENDERED_BYTES_MAX);
        let mut state = self.state.lock();
        state.kept.insert(key, kept);
        let mut newest: Vec<(Duration, usize, Key)> = state
            .kept
            .iter()
            .map(|(key, kept)| (kept.rendered_at, kept.page.bytes(), *key))
            .collect();
        newest.sort_by_key(|(rendered_at, ..)| std::cmp::Reverse(*rendered_at));
        let mut bytes = 0;
        for (rendered_at, size, of) in newest {
            left = left.saturating_sub(size);
            // The newest is kept whatever its size: its visitors wait for it.
            let is_kept = of == key || left > 0 && now.saturating_sub(rendered_at) < KEPT;
            if is_kept {
                bytes += size as u64;
            } else {
                state.kept.remove(&of);
            }
        }
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    /// Returns how much memory the pages take, in bytes.
    pub(in crate::areas::status) fn memory_bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl Kept {
    fn age(&self, app: &App) -> Duration {
        app.clock().steady().saturating_sub(self.rendered_at)
    }

    fn is_fresh(&self, app: &App, entry: &PageEntry) -> bool {
        let age = self.age(app);
        let is_same = || {
            let monitors = app.status().monitors();
            self.version.all_monitors == monitors.version()
                || self.version.monitors == monitors.version_of(entry.page.monitors())
        };
        age < FRESH && (age < PAUSE || is_same())
    }
}

impl PageVersion {
    fn now(app: &App, entry: &PageEntry) -> Self {
        let monitors = app.status().monitors();
        Self {
            documents: entry.version,
            // Before that of its monitors: what changes in between is seen later.
            all_monitors: monitors.version(),
            monitors: monitors.version_of(entry.page.monitors()),
        }
    }
}

async fn render_and_keep(
    app: Arc<App>,
    entry: PageEntry,
    reached: Reached,
    render: fn(&App, &PageEntry, Reached) -> ApiResult<RenderedPage>,
    sender: watch::Sender<Option<Arc<RenderedPage>>>,
) {
    let key = (entry.page.id, reached);
    let pending = Pending { app: Arc::clone(&app), key };
    let Ok(_slot) = app.status().public().rendering.acquire().await else { return };
    let rendered = app.blocking(move |app| {
        // It may have changed while others were rendered.
        let directory = app.status().pages(app)?;
        let entry = directory.page(entry.page.id).unwrap_or(&entry);
        let (version, rendered_at) = (PageVersion::now(app, entry), app.clock().steady());
        let page = Arc::new(render(app, entry, reached)?);
        Ok::<_, ApiError>(Kept { page, version, rendered_at })
    });
    match rendered.await {
        Ok(kept) => {
            let page = Arc::clone(&kept.page);
            app.status().public().keep(key, kept);
            drop(pending);
            sender.send_replace(Some(page));
        }
        Err(error) => {
            let cause = error.cause().unwrap_or_else(|| error.message());
            tracing::error!(page = key.0.text(), cause, "a status page could not be rendered");
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.app.status().public().state.lock().pending.remove(&self.key);
    }
}

/// Returns the bytes of a text in gzip.
pub(super) fn gzip(plain: &[u8]) -> std::io::Result<Bytes> {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(plain)?;
    encoder.finish().map(Bytes::from)
}

#[cfg(test)]
mod tests {
    use std::future::{Future as _, poll_fn};
    use std::sync::atomic::AtomicUsize;
    use std::task::Poll;

    use parking_lot::Condvar;

    use super::*;
    use crate::areas::status::public::routes;
    use crate::areas::status::testing::{id_of_page, page};
    use crate::areas::testing::TestServer;

    fn entry(server: &TestServer, path: &str) -> PageEntry {
        let directory = server.app().status().pages(server.app()).unwrap();
        directory.page(id_of_page(path)).unwrap().clone()
    }

    #[test]
    fn a_page_is_rendered_to_its_end_if_its_visitor_hangs_up() {
        static RENDERED: AtomicUsize = AtomicUsize::new(0);
        fn counted(app: &App, entry: &PageEntry, reached: Reached) -> ApiResult<RenderedPage> {
            RENDERED.fetch_add(1, Ordering::SeqCst);
            routes::render(app, entry, reached)
        }
        let server = TestServer::open();
        let shop = entry(&server, &page(&server, "shop", &[]));
        let (app, cache) = (server.app(), server.app().status().public());
        server.run(async {
            for _ in 0..100 {
                let mut visit = Box::pin(cache.get(app, &shop, Reached::ByPath, counted));
                let poll = poll_fn(|context| Poll::Ready(visit.as_mut().poll(context)));
                drop(poll.await);
            }
            cache.get(app, &shop, Reached::ByPath, counted).await.unwrap();
        });
        assert_eq!(RENDERED.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn visitors_get_the_page_before_while_it_is_rendered_again() {
        static IS_CLOSED: Mutex<bool> = Mutex::new(false);
        static OPENED: Condvar = Condvar::new();
        fn gated(app: &App, entry: &PageEntry, reached: Reached) -> ApiResult<RenderedPage> {
            OPENED.wait_while(&mut IS_CLOSED.lock(), |is_closed| *is_closed);
            routes::render(app, entry, reached)
        }
        let server = TestServer::open();
        let path = page(&server, "shop", &[]);
        let shop = entry(&server, &path);
        let (app, cache) = (server.app(), server.app().status().public());
        let get = |shop: PageEntry| async move {
            cache.get(app, &shop, Reached::ByPath, gated).await.unwrap()
        };
        server.run(async {
            let first = get(shop.clone()).await;
            server.pass(11_000);
            *IS_CLOSED.lock() = true;
            let mut waiting = Box::pin(get(shop.clone()));
            let is_pending =
                poll_fn(|context| Poll::Ready(waiting.as_mut().poll(context).is_pending()));
            assert!(is_pending.await);
            assert!(Arc::ptr_eq(&get(shop.clone()).await, &first));
            *IS_CLOSED.lock() = false;
            OPENED.notify_all();
            assert!(!Arc::ptr_eq(&waiting.await, &first));
        });
        // One that nobody has asked for in a while is not served again.
        server.run(async {
            let last = get(shop.clone()).await;
            server.pass(3_600_000);
            *IS_CLOSED.lock() = true;
            let mut waiting = [get(shop.clone()), get(shop.clone())].map(Box::pin);
            for visit in &mut waiting {
                let is_pending =
                    poll_fn(|context| Poll::Ready(visit.as_mut().poll(context).is_pending()));
                assert!(is_pending.await);
            }
            *IS_CLOSED.lock() = false;
            OPENED.notify_all();
            for visit in waiting {
                assert!(!Arc::ptr_eq(&visit.await, &last));
            }
        });
        // A change of the page is seen at once.
        let renamed = serde_json::json!({"name": "Renamed"}).to_string();
        server.call(http::Method::PUT, &path, &[], &renamed).whole(200);
        let html = server.run(async { get(entry(&server, &path)).await.html.plain_text() });
        assert!(html.contains("Renamed"));
    }

    #[test]
    fn the_oldest_pages_give_way() {
        let cache = PublicCache::default();
        let key = |number| (PageId(number), Reached::ByPath);
        let rendered = |bytes: usize, seconds| Kept {
            page: Arc::new(RenderedPage::of_size(bytes)),
            version: PageVersion { documents: 0, monitors: 0, all_monitors: 0 },
            rendered_at: Duration::from_secs(seconds),
        };
        for number in 1..=4 {
            cache.keep(key(number), rendered(limits::RENDERED_BYTES_MAX / 3, number as u64));
        }
        let kept = |number| cache.state.lock().kept.contains_key(&key(number));
        assert_eq!([1, 2, 3, 4].map(kept), [false, false, true, true]);
        cache.keep(key(5), rendered(2 * limits::RENDERED_BYTES_MAX, 5));
        assert_eq!([3, 4, 5].map(kept), [false, false, true]);
        cache.keep(key(6), rendered(1, 100));
        assert_eq!([5, 6].map(kept), [false, true], "nobody asked for it for a minute");
    }
}
