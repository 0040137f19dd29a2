//! Requests of a load, each sent until the server accepts it: a request that is refused with 503 is
//! repeated with the same idempotency key, so that it takes effect once.

use std::time::Duration;

use telltale_tests::{Client, Response};

use crate::pace::Run;

/// How long a load waits before it repeats a refused request.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// How often a request may be refused before the run fails: a minute is longer than any overload by
/// these loads may last.
const REFUSALS_MAX: u32 = 60;

/// Sends the requests of one load.
#[derive(Debug)]
pub(crate) struct Sender<'a> {
    run: &'a Run,
    client: Client,
    /// The prefix of its idempotency keys.
    name: String,
    requests: u64,
}

impl<'a> Sender<'a> {
    /// Creates a sender with connections of its own.
    pub(crate) fn new(run: &'a Run, client: Client, name: impl Into<String>) -> Self {
        Self { run, client, name: name.into(), requests: 0 }
    }

    /// Sends the request that `make` sends with a client and an idempotency key, until the status
    /// is not 503.
    #[track_caller]
    pub(crate) fn send(&mut self, make: impl Fn(&Client, &str) -> Response) -> Response {
        self.requests += 1;
        let key = format!("{}-{}", self.name, self.requests);
        for _ in 0..REFUSALS_MAX {
            self.run.add_request();
            let response = make(&self.client, &key);
            if response.status != 503 {
                return response;
            }
            self.run.add_refused();
            self.run.wait(RETRY_AFTER);
        }
        panic!("{key} was refused {REFUSALS_MAX} times");
    }
}
