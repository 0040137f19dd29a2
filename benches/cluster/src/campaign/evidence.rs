//! What there is to see of a shard that could not be opened: the objects of its log and its
//! manifests, as each gateway lists them.

use futures_util::TryStreamExt as _;
use object_store::ObjectStore;
use object_store::path::Path;

use crate::outcome::{Failure, Outcome};
use crate::store::connect;

/// Names from the end of a folder that are kept.
const NAMES: usize = 40;

/// Describes the log and the manifests below a prefix, as each of the gateways (`host:port`,
/// separated by commas) lists them.
pub(crate) async fn listings(gateways: &str, bucket: &str, prefix: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    for gateway in gateways.split(',') {
        for folder in ["wal", "manifest"] {
            let path = prefix.clone().join("slatedb").join(folder);
            let listed = match connect(&format!("http://{gateway}/{bucket}")) {
                Ok(store) => names(store.as_ref(), &path).await,
                Err(error) => Err(error),
            };
            lines.push(match listed {
                Ok(names) => format!("{gateway} {folder}: {}", names.join(" ")),
                Err(error) => format!("{gateway} {folder}: {error}"),
            });
        }
    }
    lines
}

/// Returns the last names of a folder with the sizes of their objects.
async fn names(store: &dyn ObjectStore, folder: &Path) -> Outcome<Vec<String>> {
    let mut found: Vec<_> = store.list(Some(folder)).try_collect().await?;
    found.sort_unstable_by(|left, right| left.location.cmp(&right.location));
    let kept = found.iter().skip(found.len().saturating_sub(NAMES));
    Ok(kept
        .map(|meta| {
            let name = meta.location.filename().unwrap_or_default();
            format!("{}:{}", name.trim_start_matches('0'), meta.size)
        })
        .collect())
}

/// Returns an error with its causes.
pub(crate) fn describe(error: &Failure) -> String {
    let mut text = error.to_string();
    let mut cause = match error {
        Failure::Database(error) => std::error::Error::source(error),
        other => std::error::Error::source(other),
    };
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use object_store::memory::InMemory;
    use object_store::{ObjectStoreExt as _, PutPayload};

    use super::*;

    #[tokio::test]
    async fn the_last_names_are_listed_with_their_sizes() {
        let (store, folder) = (InMemory::new(), Path::from("shard/wal"));
        for number in 1..=NAMES + 2 {
            let path = folder.clone().join(format!("{number:020}.sst"));
            store.put(&path, PutPayload::from(vec![0_u8; number])).await.unwrap();
        }
        let names = names(&store, &folder).await.unwrap();
        assert_eq!(names.len(), NAMES);
        assert_eq!(names.first().map(String::as_str), Some("3.sst:3"));
        assert_eq!(names.last().map(String::as_str), Some("42.sst:42"));
    }
}
