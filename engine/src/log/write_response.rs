//! The response to a write.

use crate::error::{Error, Result};
use crate::model::Lsn;
use crate::panics::catch_panic;

/// Called once with the position of a record, or why there is none.
pub(super) type Done = Box<dyn FnOnce(Result<Lsn>) + Send>;

/// A callback that is called in any case: when dropped, with the error that the log has stopped.
pub(super) struct WriteResponse(Option<Done>);

impl WriteResponse {
    pub(super) fn new(done: Done) -> Self {
        Self(Some(done))
    }

    pub(super) fn send(mut self, outcome: Result<Lsn>) {
        self.call(outcome);
    }

    fn call(&mut self, outcome: Result<Lsn>) {
        if let Some(done) = self.0.take() {
            // It may be called while another panic unwinds. A panic of the writer's callback is
            // only logged.
            let _called = catch_panic("the callback of a write", || done(outcome));
        }
    }
}

impl Drop for WriteResponse {
    fn drop(&mut self) {
        self.call(Err(Error::Unavailable("the log has stopped".into())));
    }
}
