//! The probe accepts a store that keeps its promise, and refuses each way of breaking it.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt as _, PutMode, PutMultipartOptions, PutOptions, PutPayload,
    PutResult, Result,
};

use super::{Refusal, Replacement, probe};

/// How a fake breaks conditional PUTs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Breach {
    /// Looks first and writes then, as a store without atomic creation does.
    LooksThenWrites,
    /// Ignores the condition, as old gateways do.
    IgnoresCondition,
    /// Responds as it should, and writes what the loser sent.
    WritesNevertheless,
    /// Refuses every conditional PUT.
    RefusesAll,
    /// Does not know conditional PUTs.
    NotSupported,
    /// Lists nothing.
    ListsLate,
    /// Creates as it should, and ignores the condition of replacements.
    IgnoresVersions,
}

#[derive(Debug)]
struct BrokenStore {
    inner: InMemory,
    breach: Breach,
}

impl fmt::Display for BrokenStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "broken({:?})", self.breach)
    }
}

impl BrokenStore {
    async fn create(&self, path: &Path, body: PutPayload, opts: PutOptions) -> Result<PutResult> {
        let exists = || Error::AlreadyExists { path: path.to_string(), source: "exists".into() };
        match self.breach {
            Breach::LooksThenWrites => {
                let is_there = self.inner.head(path).await.is_ok();
                tokio::task::yield_now().await;
                if is_there { Err(exists()) } else { self.inner.put(path, body).await }
            }
            Breach::IgnoresCondition => self.inner.put(path, body).await,
            Breach::WritesNevertheless => {
                let result = self.inner.put_opts(path, body.clone(), opts).await;
                if result.is_err() {
                    self.inner.put(path, body).await?;
                }
                result
            }
            Breach::RefusesAll => Err(exists()),
            Breach::NotSupported => Err(Error::NotImplemented {
                operation: "PutMode::Create".into(),
                implementer: self.to_string(),
            }),
            Breach::ListsLate | Breach::IgnoresVersions => {
                self.inner.put_opts(path, body, opts).await
            }
        }
    }
}

#[async_trait]
impl ObjectStore for BrokenStore {
    async fn put_opts(&self, path: &Path, body: PutPayload, opts: PutOptions) -> Result<PutResult> {
        match &opts.mode {
            PutMode::Create => self.create(path, body, opts).await,
            PutMode::Update(_) if self.breach == Breach::IgnoresVersions => {
                self.inner.put(path, body).await
            }
            PutMode::Update(_) | PutMode::Overwrite => self.inner.put_opts(path, body, opts).await,
        }
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(path, opts).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        self.inner.get_opts(path, options).await
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.breach {
            Breach::ListsLate => futures_util::stream::empty().boxed(),
            _ => self.inner.list(prefix),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

async fn refusal_of(breach: Breach) -> Refusal {
    let store: Arc<dyn ObjectStore> = Arc::new(BrokenStore { inner: InMemory::new(), breach });
    probe(&[store], &Path::from("probe"), 20).await.unwrap_err()
}

#[tokio::test]
async fn a_store_that_creates_once_is_accepted_and_left_empty() {
    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let gateways = [Arc::clone(&store), Arc::clone(&store)];
    let capabilities = probe(&gateways, &Path::from("probe"), 20).await.unwrap();
    assert!(capabilities.metadata);
    assert_eq!(capabilities.replacement, Replacement::Once);
    assert_eq!(store.list(None).count().await, 0);
}

#[tokio::test]
async fn several_winners_are_refused() {
    for breach in [Breach::LooksThenWrites, Breach::IgnoresCondition] {
        let refusal = refusal_of(breach).await;
        assert!(matches!(refusal, Refusal::SeveralWinners { race: 0, .. }), "{refusal}");
    }
}

#[tokio::test]
async fn losers_that_write_are_refused() {
    let refusal = refusal_of(Breach::WritesNevertheless).await;
    assert!(matches!(refusal, Refusal::Overwritten(0)), "{refusal}");
}

#[tokio::test]
async fn stores_without_creation_are_refused() {
    let refusal = refusal_of(Breach::RefusesAll).await;
    assert!(matches!(refusal, Refusal::NoWinner(0)), "{refusal}");
    let refusal = refusal_of(Breach::NotSupported).await;
    assert!(matches!(refusal, Refusal::NotSupported(_)), "{refusal}");
}

#[tokio::test]
async fn listings_that_lag_are_refused() {
    let refusal = refusal_of(Breach::ListsLate).await;
    assert!(matches!(refusal, Refusal::NotListed(0)), "{refusal}");
}

#[tokio::test]
async fn replacements_that_lose_are_reported() {
    let breach = Breach::IgnoresVersions;
    let store: Arc<dyn ObjectStore> = Arc::new(BrokenStore { inner: InMemory::new(), breach });
    let capabilities = probe(&[store], &Path::from("probe"), 20).await.unwrap();
    assert_eq!(capabilities.replacement, Replacement::SeveralTimes { winners: 8 });
}

#[tokio::test]
async fn gateways_that_do_not_know_of_each_other_are_refused() {
    let (left, right): (Arc<dyn ObjectStore>, Arc<dyn ObjectStore>) =
        (Arc::new(InMemory::new()), Arc::new(InMemory::new()));
    let refusal = probe(&[left, right], &Path::from("probe"), 1).await.unwrap_err();
    assert!(matches!(refusal, Refusal::SeveralWinners { winners: 2, .. }), "{refusal}");
    let refusal = probe(&[], &Path::from("probe"), 1).await.unwrap_err();
    assert!(matches!(refusal, Refusal::NoStore), "{refusal}");
}
