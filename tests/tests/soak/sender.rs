//! Requests of a load, each sent until the server takes it: one that is refused with 503 is repeated with the same
//! idempotency key, so that it counts once.

use std::time::Duration;

use telltale_tests::{Answer, Client};

use crate::pace::Run;

/// How long a load waits before it repeats a request that was refused.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// How often a request may be refused before the run fails: a minute is longer than any overload of this load may last.
const REFUSALS_MAX: u32 = 60;

/// Sends the requests of one load.
#[derive(Debug)]
pub(crate) struct Sender<'a> {
    run: &'a Run,
    client: Client,
    /// What its idempotency keys begin with.
    name: String,
    requests: u64,
}

impl<'a> Sender<'a> {
    /// A sender with connections of its own.
    pub(crate) fn new(run: &'a Run, client: Client, name: impl Into<String>) -> Self {
        Self { run, client, name: name.into(), requests: 0 }
    }

    /// Sends what `make` makes of a client and an idempotency key, until the answer is not 503.
    #[track_caller]
    pub(crate) fn send(&mut self, make: impl Fn(&Client, &str) -> Answer) -> Answer {
        self.requests += 1;
        let key = format!("{}-{}", self.name, self.requests);
        for _ in 0..REFUSALS_MAX {
            self.run.add_request();
            let answer = make(&self.client, &key);
            if answer.status != 503 {
                return answer;
            }
            self.run.add_refused();
            self.run.rest(RETRY_AFTER);
        }
        panic!("{key} was refused {REFUSALS_MAX} times");
    }
}
