//! What visitors of status pages get, kept for some seconds: rendered once for all of them, and
//! compressed once.
//!
//! One page is rendered at a time, so that strangers cannot keep the server busy with it. What is
//! kept is older than ten seconds only while the next is rendered; a change of the configuration
//! is seen at once, one of a monitor within a second.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;

use super::rendered::RenderedPage;
use crate::app::App;
use crate::areas::status::ids::PageId;
use crate::areas::status::limits;
use crate::http::ApiResult;

/// How long a rendered page is fresh.
const FRESH: Duration = Duration::from_secs(10);
/// How often a page is rendered again because a monitor changed.
const PAUSE: Duration = Duration::from_secs(1);

/// How a page is reached: its links begin differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Reached {
    /// Under a host name of its own.
    ByHost,
    /// Below the path of status pages.
    ByPath,
}

/// The rendered pages.
#[derive(Debug, Default)]
pub(in crate::areas::status) struct PublicCache {
    pages: Mutex<HashMap<(PageId, Reached), Kept>>,
    /// Held while a page is rendered.
    rendering: tokio::sync::Mutex<()>,
    bytes: AtomicU64,
}

#[derive(Clone, Debug)]
struct Kept {
    page: Arc<RenderedPage>,
    version: PageVersion,
    /// On the monotonic clock.
    rendered_at: Duration,
}

/// What a rendered page depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PageVersion {
    documents: u64,
    monitors: u64,
}

impl PublicCache {
    /// Returns a page as it is now, or was some seconds ago. `render` blocks, and returns `None` if
    /// there is no such page.
    pub(super) async fn get(
        &self,
        app: &Arc<App>,
        id: PageId,
        reached: Reached,
        render: impl FnOnce(&App) -> ApiResult<Option<RenderedPage>> + Send + 'static,
    ) -> ApiResult<Option<Arc<RenderedPage>>> {
        if let Some(page) = self.fresh(app, id, reached) {
            return Ok(Some(page));
        }
        let _rendering = self.rendering.lock().await;
        // Whoever waited before may have rendered it.
        if let Some(page) = self.fresh(app, id, reached) {
            return Ok(Some(page));
        }
        let version = PageVersion::now(app);
        let rendered_at = app.clock().steady();
        let Some(page) = app.blocking(render).await? else {
            self.forget(id);
            return Ok(None);
        };
        let page = Arc::new(page);
        self.keep((id, reached), Kept { page: Arc::clone(&page), version, rendered_at });
        Ok(Some(page))
    }

    fn fresh(&self, app: &App, id: PageId, reached: Reached) -> Option<Arc<RenderedPage>> {
        let kept = self.pages.lock().get(&(id, reached)).cloned()?;
        let age = app.clock().steady().saturating_sub(kept.rendered_at);
        let now = PageVersion::now(app);
        let is_fresh = age < FRESH
            && kept.version.documents == now.documents
            && (kept.version.monitors == now.monitors || age < PAUSE);
        is_fresh.then_some(kept.page)
    }

    fn keep(&self, key: (PageId, Reached), kept: Kept) {
        let bytes = kept.page.bytes();
        let mut pages = self.pages.lock();
        pages.remove(&key);
        let mut all: usize = pages.values().map(|kept| kept.page.bytes()).sum();
        if all + bytes > limits::RENDERED_BYTES_MAX {
            // Those that are read often are soon rendered again.
            pages.clear();
            all = 0;
        }
        pages.insert(key, kept);
        self.bytes.store((all + bytes) as u64, Ordering::Relaxed);
    }

    fn forget(&self, id: PageId) {
        let mut pages = self.pages.lock();
        pages.retain(|(of, _), _| *of != id);
        let all: usize = pages.values().map(|kept| kept.page.bytes()).sum();
        self.bytes.store(all as u64, Ordering::Relaxed);
    }

    /// Returns how much memory the pages take, in bytes.
    pub(in crate::areas::status) fn memory_bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl PageVersion {
    fn now(app: &App) -> Self {
        let status = app.status();
        let (documents, monitors) = (status.documents().generation(), status.monitors().version());
        Self { documents, monitors }
    }
}

/// Returns the bytes of a text in gzip.
pub(super) fn gzip(plain: &[u8]) -> std::io::Result<Bytes> {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(plain)?;
    encoder.finish().map(Bytes::from)
}
