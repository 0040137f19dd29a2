//! A store that fails as object stores fail, from a seed.
//!
//! ```text
//! lost answer      the PUT is applied, the client sees an error
//! late PUT         the client sees an error, the PUT is applied some time later
//! conflict         409 on a condition: nothing is applied, the client sees "already exists"
//! own 412          a PUT with a condition is applied, the client sees "already exists"
//! forgotten PUT    nothing is applied, the client sees success: no store may do that
//! slow, throttled  the request takes long; it is refused with 503
//! ```
//!
//! Every owner of a shard gets a handle of its own, so that one can be frozen, as SIGSTOP freezes a
//! process: its requests wait until it is thawed, and those that were under way may have been
//! applied. Uploads in parts are faulted where they begin.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, StreamExt as _};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use tokio::sync::watch;

use crate::seeded::Seeded;

/// Probabilities in thousandths of each request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Faults {
    pub(crate) lost_answer: u32,
    pub(crate) late_put: u32,
    pub(crate) conflict: u32,
    pub(crate) own_412: u32,
    pub(crate) slow: u32,
    pub(crate) throttled: u32,
    /// Shows that the checks notice what is lost.
    pub(crate) forgotten: u32,
}

impl Faults {
    /// Returns the faults of a bad day: one request in nine is hit.
    pub(crate) fn of_a_bad_day() -> Self {
        Self {
            lost_answer: 20,
            late_put: 15,
            conflict: 5,
            own_412: 10,
            slow: 40,
            throttled: 20,
            forgotten: 0,
        }
    }
}

/// What happens to one PUT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Applied,
    AnswerLost,
    Late(Duration),
    Conflict,
    Own412,
    Throttled,
    Forgotten,
}

/// The wrapper.
#[derive(Debug)]
pub(crate) struct FaultyStore {
    inner: Arc<dyn ObjectStore>,
    faults: Faults,
    random: Mutex<Seeded>,
    frozen: watch::Sender<bool>,
    injected: AtomicU64,
    /// The next creation below this folder meets a conflict.
    conflict_below: Mutex<Option<&'static str>>,
}

impl FaultyStore {
    /// Wraps a store that other handles may share.
    pub(crate) fn new(inner: Arc<dyn ObjectStore>, faults: Faults, seed: u64) -> Self {
        let (frozen, _) = watch::channel(false);
        let random = Mutex::new(Seeded::new(seed));
        let (injected, conflict_below) = (AtomicU64::new(0), Mutex::default());
        Self { inner, faults, random, frozen, injected, conflict_below }
    }

    /// Lets the next creation in a folder of this name meet a conflict.
    #[cfg(test)]
    pub(crate) fn conflict_once_below(&self, folder: &'static str) {
        *self.conflict_below.lock().unwrap_or_else(PoisonError::into_inner) = Some(folder);
    }

    fn takes_conflict(&self, path: &Path, mode: &PutMode) -> bool {
        let mut below = self.conflict_below.lock().unwrap_or_else(PoisonError::into_inner);
        let is_there = below.is_some_and(|name| path.parts().any(|part| part.as_ref() == name));
        if is_there && *mode == PutMode::Create {
            *below = None;
            return true;
        }
        false
    }

    /// Makes all requests wait, or lets them go on.
    pub(crate) fn freeze(&self, frozen: bool) {
        self.frozen.send_replace(frozen);
    }

    /// Returns how many faults were injected.
    pub(crate) fn injected(&self) -> u64 {
        self.injected.load(Ordering::Relaxed)
    }

    async fn thawed(&self) {
        let mut frozen = self.frozen.subscribe();
        // The sender lives as long as this store, so an error cannot occur.
        if frozen.wait_for(|frozen| !frozen).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    fn draw<T>(&self, choose: impl FnOnce(&mut Seeded) -> T) -> T {
        choose(&mut self.random.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Draws how long a request takes: usually a few milliseconds, sometimes seconds.
    fn draw_time(&self) -> Duration {
        self.draw(|random| {
            let slow = random.happens(self.faults.slow);
            Duration::from_millis(if slow { 300 + random.below(3000) } else { 1 + random.below(8) })
        })
    }

    fn draw_fate(&self, mode: &PutMode) -> Fate {
        let faults = self.faults;
        let fate = self.draw(|random| {
            let drawn = random.below(1000);
            let mut below = 0;
            let mut hit = |per_mille: u32| {
                below += u64::from(per_mille);
                drawn < below
            };
            if hit(faults.lost_answer) {
                Fate::AnswerLost
            } else if hit(faults.late_put) {
                Fate::Late(Duration::from_millis(random.below(15_000)))
            } else if hit(faults.conflict) {
                Fate::Conflict
            } else if hit(faults.own_412) {
                Fate::Own412
            } else if hit(faults.throttled) {
                Fate::Throttled
            } else if hit(faults.forgotten) {
                Fate::Forgotten
            } else {
                Fate::Applied
            }
        });
        let has_condition = !matches!(mode, PutMode::Overwrite);
        if matches!(fate, Fate::Conflict | Fate::Own412) && !has_condition {
            return Fate::Applied;
        }
        if fate != Fate::Applied {
            self.injected.fetch_add(1, Ordering::Relaxed);
        }
        fate
    }

    /// Fails a request that only reads as often as a PUT is throttled.
    async fn read_fate(&self) -> Result<()> {
        self.thawed().await;
        tokio::time::sleep(self.draw_time()).await;
        self.thawed().await;
        if self.draw(|random| random.happens(self.faults.throttled)) {
            self.injected.fetch_add(1, Ordering::Relaxed);
            return Err(failure("503 SlowDown"));
        }
        Ok(())
    }
}

fn failure(reason: &'static str) -> Error {
    Error::Generic { store: "faulty", source: reason.into() }
}

fn already_exists(path: &Path, reason: &'static str) -> Error {
    Error::AlreadyExists { path: path.to_string(), source: reason.into() }
}

impl fmt::Display for FaultyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "faulty({})", self.inner)
    }
}

#[async_trait]
impl ObjectStore for FaultyStore {
    async fn put_opts(&self, path: &Path, body: PutPayload, opts: PutOptions) -> Result<PutResult> {
        self.thawed().await;
        tokio::time::sleep(self.draw_time()).await;
        let fate = if self.takes_conflict(path, &opts.mode) {
            Fate::Conflict
        } else {
            self.draw_fate(&opts.mode)
        };
        let result = match fate {
            Fate::Conflict => Err(already_exists(path, "409 ConditionalRequestConflict")),
            Fate::Throttled => Err(failure("503 SlowDown")),
            Fate::Late(delay) => {
                let (inner, path) = (Arc::clone(&self.inner), path.clone());
                tokio::spawn(async move {
                    tokio::time::sleep(delay).await;
                    // Nobody waits for the result any more; a refusal is as good as success.
                    drop(inner.put_opts(&path, body, opts).await);
                });
                Err(failure("timed out"))
            }
            Fate::AnswerLost => {
                // Applied or refused: the client cannot know.
                drop(self.inner.put_opts(path, body, opts).await);
                Err(failure("connection reset"))
            }
            Fate::Own412 => match self.inner.put_opts(path, body, opts).await {
                Ok(_) => Err(already_exists(path, "412 after a retry of the client")),
                Err(error) => Err(error),
            },
            Fate::Forgotten => Ok(PutResult {
                e_tag: Some("forgotten".to_owned()),
                version: None,
                extensions: Default::default(),
            }),
            Fate::Applied => self.inner.put_opts(path, body, opts).await,
        };
        self.thawed().await;
        result
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.read_fate().await?;
        self.inner.put_multipart_opts(path, opts).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        self.read_fate().await?;
        self.inner.get_opts(path, options).await
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        // What an owner decided to delete before it was frozen, it deletes when it is thawed.
        let frozen = self.frozen.subscribe();
        let thawed = paths.then(move |path| {
            let mut frozen = frozen.clone();
            async move {
                if frozen.wait_for(|frozen| !frozen).await.is_err() {
                    std::future::pending::<()>().await;
                }
                path
            }
        });
        self.inner.delete_stream(thawed.boxed())
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        // A listing that began before a freeze may be old when it is used.
        let mut frozen = self.frozen.subscribe();
        let listed = self.inner.list(prefix);
        let (time, throttled) =
            (self.draw_time(), self.draw(|random| random.happens(self.faults.throttled)));
        if throttled {
            self.injected.fetch_add(1, Ordering::Relaxed);
        }
        let wait = async move {
            tokio::time::sleep(time).await;
            if frozen.wait_for(|frozen| !frozen).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let refused = move || futures_util::stream::iter([Err(failure("503 SlowDown"))]).boxed();
        wait.map(move |()| if throttled { refused() } else { listed }).flatten_stream().boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.read_fate().await?;
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.read_fate().await?;
        self.inner.copy_opts(from, to, options).await
    }
}

#[cfg(test)]
#[path = "faulty_tests.rs"]
mod tests;
