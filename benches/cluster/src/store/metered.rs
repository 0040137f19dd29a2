//! A store that counts what each part of SlateDB sends, and takes a chosen time for each request.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, StreamExt as _};
use object_store::path::Path;
use object_store::{
    CopyOptions, Extensions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
};
use slatedb::object_store_tag::{ObjectStoreCallTag, TableStoreKind};

/// What an object is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The write-ahead log of SlateDB.
    Wal,
    /// Tables of level 0, which memtables become.
    Level0,
    /// Tables that compaction writes.
    Compaction,
    /// Manifests, states of compactions, boundaries of garbage collection.
    Manifest,
    /// Packs of blocks.
    Pack,
}

impl Part {
    /// All parts, in the order of their counters.
    pub(crate) const ALL: [Self; 5] =
        [Self::Wal, Self::Level0, Self::Compaction, Self::Manifest, Self::Pack];

    /// Returns its name in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Wal => "WAL",
            Self::Level0 => "L0",
            Self::Compaction => "compaction",
            Self::Manifest => "manifests",
            Self::Pack => "packs",
        }
    }

    fn of(path: &Path, extensions: &Extensions) -> Self {
        let has = |folder: &str| path.parts().any(|part| part.as_ref() == folder);
        if has("packs") {
            Self::Pack
        } else if has("wal") {
            Self::Wal
        } else if has("compacted") {
            match ObjectStoreCallTag::from_extensions(extensions).map(|tag| tag.kind) {
                Some(TableStoreKind::Compactor) => Self::Compaction,
                _ => Self::Level0,
            }
        } else {
            Self::Manifest
        }
    }
}

#[derive(Debug, Default)]
struct Counter {
    puts: AtomicU64,
    put_bytes: AtomicU64,
    gets: AtomicU64,
    get_bytes: AtomicU64,
}

/// Requests and bytes of one part.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    pub(crate) puts: u64,
    pub(crate) put_bytes: u64,
    pub(crate) gets: u64,
    pub(crate) get_bytes: u64,
}

/// The wrapper.
#[derive(Debug)]
pub(crate) struct MeteredStore {
    inner: Arc<dyn ObjectStore>,
    counters: Arc<[Counter; 5]>,
    put_time: Duration,
    get_time: Duration,
}

impl MeteredStore {
    /// Wraps a store. A request takes the given time longer than the store itself takes.
    pub(crate) fn new(inner: Arc<dyn ObjectStore>, put_time: Duration, get_time: Duration) -> Self {
        Self { inner, counters: Arc::default(), put_time, get_time }
    }

    /// Returns what a part has sent and read.
    pub(crate) fn usage(&self, part: Part) -> Usage {
        let load = |value: &AtomicU64| value.load(Ordering::Relaxed);
        self.counter(part).map_or_else(Usage::default, |counter| Usage {
            puts: load(&counter.puts),
            put_bytes: load(&counter.put_bytes),
            gets: load(&counter.gets),
            get_bytes: load(&counter.get_bytes),
        })
    }

    fn counter(&self, part: Part) -> Option<&Counter> {
        self.counters.get(part as usize)
    }

    fn count_put(&self, part: Part, bytes: usize) {
        count_put(&self.counters, part, bytes);
    }
}

fn count_put(counters: &[Counter; 5], part: Part, bytes: usize) {
    if let Some(counter) = counters.get(part as usize) {
        counter.puts.fetch_add(1, Ordering::Relaxed);
        counter.put_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

async fn take(time: Duration) {
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}

impl fmt::Display for MeteredStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "metered({})", self.inner)
    }
}

#[async_trait]
impl ObjectStore for MeteredStore {
    async fn put_opts(&self, path: &Path, body: PutPayload, opts: PutOptions) -> Result<PutResult> {
        self.count_put(Part::of(path, &opts.extensions), body.content_length());
        take(self.put_time).await;
        self.inner.put_opts(path, body, opts).await
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let part = Part::of(path, &opts.extensions);
        self.count_put(part, 0);
        take(self.put_time).await;
        let inner = self.inner.put_multipart_opts(path, opts).await?;
        let counters = Arc::clone(&self.counters);
        Ok(Box::new(MeteredUpload { inner, part, counters, put_time: self.put_time }))
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        let part = Part::of(path, &options.extensions);
        take(self.get_time).await;
        let result = self.inner.get_opts(path, options).await?;
        if let Some(counter) = self.counter(part) {
            counter.gets.fetch_add(1, Ordering::Relaxed);
            let bytes = result.range.end.saturating_sub(result.range.start);
            counter.get_bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        Ok(result)
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let listed = self.inner.list(prefix);
        let time = self.get_time;
        take(time).map(|()| listed).flatten_stream().boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        take(self.get_time).await;
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

#[derive(Debug)]
struct MeteredUpload {
    inner: Box<dyn MultipartUpload>,
    part: Part,
    counters: Arc<[Counter; 5]>,
    put_time: Duration,
}

#[async_trait]
impl MultipartUpload for MeteredUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        count_put(&self.counters, self.part, data.content_length());
        let (time, sent) = (self.put_time, self.inner.put_part(data));
        Box::pin(async move {
            take(time).await;
            sent.await
        })
    }

    async fn complete(&mut self) -> Result<PutResult> {
        count_put(&self.counters, self.part, 0);
        take(self.put_time).await;
        self.inner.complete().await
    }

    async fn abort(&mut self) -> Result<()> {
        self.inner.abort().await
    }
}

#[cfg(test)]
mod tests {
    use object_store::ObjectStoreExt as _;
    use object_store::memory::InMemory;

    use super::*;

    #[tokio::test]
    async fn requests_are_counted_by_part() {
        let store = MeteredStore::new(Arc::new(InMemory::new()), Duration::ZERO, Duration::ZERO);
        for path in ["s/wal/1.sst", "s/manifest/1.manifest", "packs/a", "s/wal/2.sst"] {
            store.put(&Path::from(path), PutPayload::from_static(b"abc")).await.unwrap();
        }
        store.get(&Path::from("packs/a")).await.unwrap().bytes().await.unwrap();
        let wal = store.usage(Part::Wal);
        assert_eq!((wal.puts, wal.put_bytes, wal.gets), (2, 6, 0));
        assert_eq!(store.usage(Part::Manifest).puts, 1);
        let packs = store.usage(Part::Pack);
        assert_eq!((packs.puts, packs.gets, packs.get_bytes), (1, 1, 3));
        assert_eq!(Part::ALL.map(Part::name).len(), 5);
    }
}
