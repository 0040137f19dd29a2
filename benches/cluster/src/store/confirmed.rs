//! A store that does not believe "already exists" before it has seen the object.
//!
//! S3 may answer the creation of an object with 409, which means "try again"; `object_store`
//! reports it as `AlreadyExists`. SlateDB takes that for the object of another owner: it believes
//! to be fenced, or, where it wrote a fence itself, leaves a hole in its log that no later owner
//! can read past (see `shard/owner_tests.rs`). This wrapper looks for the object, and creates it
//! again if there is none.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt as _, PutMode, PutMultipartOptions, PutOptions, PutPayload,
    PutResult, Result,
};

/// Creations of one object that meet a conflict before the caller hears of it.
const ATTEMPTS: u32 = 10;
/// The name in errors.
const STORE: &str = "confirmed";

/// The wrapper.
#[derive(Debug)]
pub(crate) struct ConfirmedStore {
    inner: Arc<dyn ObjectStore>,
}

impl ConfirmedStore {
    /// Wraps a store.
    pub(crate) fn new(inner: Arc<dyn ObjectStore>) -> Self {
        Self { inner }
    }
}

impl fmt::Display for ConfirmedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "confirmed({})", self.inner)
    }
}

#[async_trait]
impl ObjectStore for ConfirmedStore {
    async fn put_opts(&self, path: &Path, body: PutPayload, opts: PutOptions) -> Result<PutResult> {
        let mut result = self.inner.put_opts(path, body.clone(), opts.clone()).await;
        if opts.mode != PutMode::Create {
            return result;
        }
        for _ in 0..ATTEMPTS {
            if !matches!(result, Err(Error::AlreadyExists { .. })) {
                return result;
            }
            match self.inner.head(path).await {
                Err(Error::NotFound { .. }) => {}
                Ok(_) => return result,
                // Unknown: the caller repeats the PUT.
                Err(error) => return Err(error),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
            result = self.inner.put_opts(path, body.clone(), opts.clone()).await;
        }
        // What nobody can see is not believed: the caller repeats the PUT.
        match result {
            Err(Error::AlreadyExists { source, .. }) => {
                Err(Error::Generic { store: STORE, source })
            }
            result => result,
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
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{AgedStore, Faults, FaultyStore};

    #[tokio::test(start_paused = true)]
    async fn conflicts_without_an_object_are_never_believed() {
        let faults = Faults { conflict: 1000, ..Faults::default() };
        let bucket = Arc::new(AgedStore::new());
        let faulty = FaultyStore::new(Arc::clone(&bucket) as _, faults, 1);
        let store = ConfirmedStore::new(Arc::new(faulty));
        let (path, options) = (Path::from("object"), PutOptions::from(PutMode::Create));
        let refused = store.put_opts(&path, PutPayload::default(), options.clone()).await;
        assert!(matches!(refused, Err(Error::Generic { .. })), "{refused:?}");
        bucket.put(&path, PutPayload::default()).await.unwrap();
        let exists = store.put_opts(&path, PutPayload::default(), options).await;
        assert!(matches!(exists, Err(Error::AlreadyExists { .. })), "{exists:?}");
    }
}
