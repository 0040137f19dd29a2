//! What jobs are to do, as a worker is handed it: read from disk, and in the account of memory until it is sent.
//!
//! Fetches make the jobs that wait fewer. So where memory is full a worker still gets some jobs, at least one, out of the reserve that
//! the account has for that.

use telltale_engine::{Error, Memory, MemoryFull, MemoryOwner, MemoryShare};

use super::model::Holding;
use super::names::ClassName;
use super::state::Grant;
use super::stored::{self, StoredBody};
use crate::limits::JOB_FETCH_RESERVED_BYTES_MAX;

/// What was read of a job.
pub(super) type ReadBody = Result<Option<Vec<u8>>, Error>;

/// Borrows memory for the bodies from the first on, and returns for how many. Fails where there is none even for the first.
pub(super) fn borrow(
    memory: &Memory,
    bodies: &[ReadBody],
) -> Result<(usize, MemoryShare), MemoryFull> {
    let bytes = bodies.iter().map(bytes_of).sum();
    memory.take(MemoryOwner::Answers, bytes).map(|share| (bodies.len(), share)).or_else(|_full| {
        let (count, bytes) = first_few(bodies);
        Ok((count, memory.take_to_drain(MemoryOwner::Answers, bytes)?))
    })
}

fn bytes_of(body: &ReadBody) -> u64 {
    body.as_ref().ok().and_then(Option::as_ref).map_or(0, |body| body.len() as u64)
}

/// So many bodies from the first on as the reserve has bytes for, at least one, and their bytes.
fn first_few(bodies: &[ReadBody]) -> (usize, u64) {
    let (mut count, mut bytes) = (0, 0);
    for body in bodies {
        let more = bytes + bytes_of(body);
        if count > 0 && more > JOB_FETCH_RESERVED_BYTES_MAX {
            break;
        }
        (count, bytes) = (count + 1, more);
    }
    (count, bytes)
}

/// A job with what was read of it, or why it could not be.
pub(super) fn holding(grant: &Grant, body: ReadBody) -> Result<Holding, String> {
    let body = body.map_err(|error| error.to_string())?;
    let body = body.ok_or_else(|| "its record is gone".to_owned())?;
    let body = stored::decode::<StoredBody<'_>>(&body).map_err(|damage| damage.to_string())?;
    Ok(Holding {
        id: grant.id,
        class: ClassName::stored(body.class),
        queue: grant.queue.clone(),
        arguments: body.arguments.into(),
        attempt: grant.attempt,
        token: grant.token,
        expires_at: grant.expires_at,
        lease_ms: grant.lease_ms,
    })
}
