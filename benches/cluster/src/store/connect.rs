//! Opens the object store that an address names.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::aws::AmazonS3Builder;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};

use crate::outcome::{Failure, Outcome};

/// The credentials that `tools/cluster-up` gives to SeaweedFS.
const ACCESS_KEY: &str = "test";
const SECRET_KEY: &str = "test-secret";

/// Opens `memory:` or `http://host:port/bucket`.
pub(crate) fn connect(address: &str) -> Outcome<Arc<dyn ObjectStore>> {
    if address == "memory:" {
        return Ok(Arc::new(InMemory::new()));
    }
    let bucket = address.strip_prefix("http://").and_then(|rest| rest.split_once('/'));
    let Some((host, bucket)) = bucket else {
        return Err(Failure::Usage(format!("'{address}' is not http://host:port/bucket")));
    };
    // Short enough that a dead gateway is left within a takeover; SlateDB retries without end.
    let client = ClientOptions::new()
        .with_allow_http(true)
        .with_connect_timeout(Duration::from_secs(1))
        .with_timeout(Duration::from_secs(10));
    let retry = RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(50),
            max_backoff: Duration::from_secs(1),
            base: 2.0,
        },
        max_retries: 3,
        retry_timeout: Duration::from_secs(20),
    };
    let store = AmazonS3Builder::new()
        .with_endpoint(format!("http://{host}"))
        .with_bucket_name(bucket)
        .with_region("us-east-1")
        .with_access_key_id(ACCESS_KEY)
        .with_secret_access_key(SECRET_KEY)
        .with_unsigned_payload(true)
        .with_client_options(client)
        .with_retry(retry)
        .build()?;
    Ok(Arc::new(store))
}

/// Deletes all objects below a prefix.
pub(crate) async fn delete_below(store: &dyn ObjectStore, prefix: &Path) -> Outcome<()> {
    let listed = store.list(Some(prefix)).map(|meta| meta.map(|meta| meta.location)).boxed();
    let mut deleted = store.delete_stream(listed);
    while let Some(result) = deleted.next().await {
        match result {
            Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Returns how many objects of SlateDB's log are gone: those below the greatest number that is
/// there.
pub(crate) async fn deleted_wal(store: &dyn ObjectStore, folder: &Path) -> Outcome<u64> {
    let mut listed = store.list(Some(folder));
    let (mut count, mut greatest) = (0, 0_u64);
    while let Some(meta) = listed.try_next().await? {
        let name = meta.location.filename().and_then(|name| name.strip_suffix(".sst"));
        count += 1;
        greatest = greatest.max(name.and_then(|name| name.parse().ok()).unwrap_or_default());
    }
    Ok(greatest.saturating_sub(count))
}

#[cfg(test)]
mod tests {
    use object_store::{ObjectStoreExt as _, PutPayload};

    use super::*;

    #[tokio::test]
    async fn addresses_are_parsed_and_gaps_in_the_log_counted() {
        assert!(connect("s3://bucket").is_err());
        assert!(connect("http://host").is_err());
        let store = connect("memory:").unwrap();
        let folder = Path::from("shard/slatedb/wal");
        assert_eq!(deleted_wal(store.as_ref(), &folder).await.unwrap(), 0);
        for number in [1, 4, 5] {
            let path = folder.clone().join(format!("{number:020}.sst"));
            store.put(&path, PutPayload::default()).await.unwrap();
        }
        assert_eq!(deleted_wal(store.as_ref(), &folder).await.unwrap(), 2);
    }
}
