//! A store in memory whose objects age with the clock of tokio, which tests pause and move.
//!
//! `InMemory` stamps objects with the clock of the machine. On virtual time its objects would seem
//! to be older than they are, and garbage collection would delete what is in use.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
};
use slatedb_common::clock::{DefaultSystemClock, SystemClock as _};

#[derive(Debug)]
struct Times {
    clock: DefaultSystemClock,
    written: Mutex<HashMap<Path, DateTime<Utc>>>,
}

impl Times {
    fn stamp(&self, path: &Path) {
        let now = self.clock.now();
        self.written.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone(), now);
    }

    fn correct(&self, mut meta: ObjectMeta) -> ObjectMeta {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(time) = written.get(&meta.location) {
            meta.last_modified = *time;
        }
        meta
    }
}

/// The store.
#[derive(Debug)]
pub(crate) struct AgedStore {
    inner: InMemory,
    times: Arc<Times>,
}

impl AgedStore {
    /// Creates an empty store.
    pub(crate) fn new() -> Self {
        let times = Times { clock: DefaultSystemClock::new(), written: Mutex::default() };
        Self { inner: InMemory::new(), times: Arc::new(times) }
    }
}

impl fmt::Display for AgedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("aged")
    }
}

#[async_trait]
impl ObjectStore for AgedStore {
    async fn put_opts(&self, path: &Path, body: PutPayload, opts: PutOptions) -> Result<PutResult> {
        let result = self.inner.put_opts(path, body, opts).await?;
        self.times.stamp(path);
        Ok(result)
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let inner = self.inner.put_multipart_opts(path, opts).await?;
        let (path, times) = (path.clone(), Arc::clone(&self.times));
        Ok(Box::new(AgedUpload { inner, path, times }))
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        let mut result = self.inner.get_opts(path, options).await?;
        result.meta = self.times.correct(result.meta);
        Ok(result)
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let times = Arc::clone(&self.times);
        self.inner.list(prefix).map_ok(move |meta| times.correct(meta)).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let mut listed = self.inner.list_with_delimiter(prefix).await?;
        listed.objects = listed.objects.into_iter().map(|meta| self.times.correct(meta)).collect();
        Ok(listed)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await?;
        self.times.stamp(to);
        Ok(())
    }
}

#[derive(Debug)]
struct AgedUpload {
    inner: Box<dyn MultipartUpload>,
    path: Path,
    times: Arc<Times>,
}

#[async_trait]
impl MultipartUpload for AgedUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        self.inner.put_part(data)
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let result = self.inner.complete().await?;
        self.times.stamp(&self.path);
        Ok(result)
    }

    async fn abort(&mut self) -> Result<()> {
        self.inner.abort().await
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use object_store::ObjectStoreExt as _;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn objects_age_with_virtual_time() {
        let store = AgedStore::new();
        let path = Path::from("object");
        store.put(&path, PutPayload::from_static(b"1")).await.unwrap();
        let before = store.head(&path).await.unwrap().last_modified;
        tokio::time::sleep(Duration::from_secs(3600)).await;
        assert_eq!(store.head(&path).await.unwrap().last_modified, before);
        store.put(&path, PutPayload::from_static(b"2")).await.unwrap();
        let age = store.head(&path).await.unwrap().last_modified - before;
        assert_eq!(age.num_seconds(), 3600);
    }
}
