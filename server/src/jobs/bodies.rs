//! The bodies of fetched jobs: read from disk, and charged to the memory account until they are
//! sent.
//!
//! Fetches reduce the number of waiting jobs. So when memory is full a worker still gets some jobs,
//! at least one, from the reserve of the account for such requests.

use telltale_engine::{Error, Memory, MemoryFull, MemoryOwner, MemoryShare};

use super::model::HeldJob;
use super::names::ClassName;
use super::state::Grant;
use super::stored;
use crate::limits::JOB_FETCH_RESERVED_BYTES_MAX;

/// The result of reading the body of a job.
pub(super) type ReadBody = Result<Option<Vec<u8>>, Error>;

/// Reserves memory for as many leading bodies as possible, and returns their number. Fails if there
/// is no memory even for the first.
pub(super) fn reserve_memory(
    memory: &Memory,
    bodies: &[ReadBody],
) -> Result<(usize, MemoryShare), MemoryFull> {
    let bytes = bodies.iter().map(bytes_of).sum();
    memory.take(MemoryOwner::Answers, bytes).map(|share| (bodies.len(), share)).or_else(|_full| {
        let (count, bytes) = first_few(bodies);
        Ok((count, memory.take_from_reserve(MemoryOwner::Answers, bytes)?))
    })
}

fn bytes_of(body: &ReadBody) -> u64 {
    body.as_ref().ok().and_then(Option::as_ref).map_or(0, |body| body.len() as u64)
}

/// Returns how many leading bodies fit into the reserve, at least one, and their size in bytes.
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

/// Returns the job with its body, or why the body could not be read.
pub(super) fn held_job(grant: &Grant, body: ReadBody) -> Result<HeldJob, String> {
    let body = stored::decode_body(&body)?;
    Ok(HeldJob {
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
