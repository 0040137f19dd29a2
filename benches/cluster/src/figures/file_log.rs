//! A log in a file with the same group commit, for comparison: one write and one sync per group.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use crate::outcome::{Failure, Outcome};

/// Records of one group and of the queue behind it.
const GROUP_RECORDS: usize = 64;

type Waiting = (Bytes, oneshot::Sender<()>);

/// The log. A thread writes it, as in the engine.
#[derive(Debug)]
pub(crate) struct FileLog {
    queue: mpsc::Sender<Waiting>,
}

impl FileLog {
    /// Creates the file.
    pub(crate) fn create(path: &Path) -> Outcome<Self> {
        let file = File::create(path)?;
        let (queue, waiting) = mpsc::channel(GROUP_RECORDS);
        std::thread::spawn(move || commit(file, waiting));
        Ok(Self { queue })
    }

    /// Appends a record; returns when it is on disk.
    pub(crate) async fn append(&self, payload: Bytes) -> Outcome<()> {
        let stopped = || Failure::Stopped("the file could not be written".to_owned());
        let (done, response) = oneshot::channel();
        self.queue.send((payload, done)).await.map_err(|_| stopped())?;
        response.await.map_err(|_| stopped())
    }
}

/// Ends at the first error: callers then see that nobody responds.
fn commit(mut file: File, mut waiting: mpsc::Receiver<Waiting>) {
    let (mut group, mut buffer) = (Vec::new(), Vec::new());
    while waiting.blocking_recv_many(&mut group, GROUP_RECORDS) > 0 {
        buffer.clear();
        for (payload, _) in &group {
            let header = [payload.len() as u64, u64::from(crc32fast::hash(payload))];
            buffer.extend(header.iter().flat_map(|field| field.to_le_bytes()));
            buffer.extend_from_slice(payload);
        }
        if file.write_all(&buffer).and_then(|()| file.sync_data()).is_err() {
            return;
        }
        for (_, done) in group.drain(..) {
            // A client that has gone needs no response.
            done.send(()).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn records_are_in_the_file_when_they_are_acknowledged() {
        let path = std::env::temp_dir().join(format!("cluster-test-{}", std::process::id()));
        let log = FileLog::create(&path).unwrap();
        log.append(Bytes::from_static(b"record")).await.unwrap();
        let written = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(written.ends_with(b"record"));
    }
}
