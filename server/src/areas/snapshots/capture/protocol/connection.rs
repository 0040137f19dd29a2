//! The connection to a browser: commands, their results, and events by browser context.
//!
//! Events of a context go to whoever has its [`ContextRoute`]. Sessions (pages, frames, workers)
//! belong to the context in which they were attached; they are learnt from the events themselves,
//! before the next message is read, so that no event is lost. Reading never waits for a receiver: a
//! context whose events are not taken loses its route.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::AbortHandle;

use super::event::BrowserEvent;
use super::frames::{Message, MessageReader};
use super::queue_bytes::{QueueBytes, QueueShare};
use super::wire::{AttachedSession, DetachedSession, WireMessage};
use crate::areas::snapshots::capture::limits::{
    COMMAND_BYTES_WAITING_MAX, COMMANDS_WAITING_MAX, EVENT_BYTES_WAITING_MAX, EVENTS_WAITING_MAX,
    ID_BYTES_MAX, IDS_MAX, INVALID_MESSAGES_MAX, MESSAGE_BYTES_MAX,
};

/// Bytes at the beginning of a message in which its identifier is.
const ID_PREFIX: &[u8] = b"{\"id\":";

/// A connection to a browser, closed when it is dropped.
#[derive(Debug)]
pub(in super::super) struct Connection {
    commands: CommandSender,
    tasks: [AbortHandle; 2],
}

/// Sends commands as long as the connection is open.
#[derive(Clone, Debug)]
pub(in super::super) struct CommandSender {
    shared: Arc<SharedConnection>,
    queue: mpsc::Sender<QueuedCommand>,
    queued: QueueBytes,
}

/// A command that waits for being written; its bytes count unless somebody waits for its result.
type QueuedCommand = (Vec<u8>, Option<QueueShare>);

/// The events of a browser context, until it is dropped.
#[derive(Debug)]
pub(in super::super) struct ContextRoute {
    shared: Arc<SharedConnection>,
    context: String,
}

/// Why a command failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in super::super) enum ProtocolError {
    /// The browser has ended.
    #[error("the connection to the browser is closed")]
    Closed,
    /// The browser refused the command.
    #[error("{method}: {message}")]
    Refused {
        /// The command.
        method: &'static str,
        /// The reason that the browser gives.
        message: String,
    },
    /// The result is larger than the limit.
    #[error("{method}: the result is too large")]
    TooLarge {
        /// The command.
        method: &'static str,
    },
    /// The result is not as expected.
    #[error("{method}: unexpected result: {reason}")]
    Unexpected {
        /// The command.
        method: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

#[derive(Debug)]
struct SharedConnection {
    next_id: AtomicU64,
    /// The commands that wait for results; `None` when the connection is closed.
    waiting: Mutex<Option<HashMap<u64, oneshot::Sender<CommandResult>>>>,
    routes: Mutex<EventRoutes>,
    closed: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct EventRoutes {
    contexts: HashMap<String, (mpsc::Sender<BrowserEvent>, QueueBytes)>,
    /// The context of each session.
    sessions: HashMap<String, (Arc<str>, String)>,
}

/// What the browser returned for a command.
#[derive(Debug)]
enum CommandResult {
    Value(Box<RawValue>),
    Refused(String),
    TooLarge,
}

impl Connection {
    /// Starts to speak over the two pipes of a browser. Needs a Tokio runtime.
    pub(in super::super) fn open(
        commands: impl AsyncWrite + Send + Unpin + 'static,
        messages: impl AsyncRead + Send + Unpin + 'static,
    ) -> Self {
        let (queue, receiver) = mpsc::channel(COMMANDS_WAITING_MAX);
        let shared = Arc::new(SharedConnection {
            next_id: AtomicU64::new(1),
            waiting: Mutex::new(Some(HashMap::new())),
            routes: Mutex::default(),
            closed: watch::Sender::new(false),
        });
        let reading = tokio::spawn(read_all(Arc::clone(&shared), messages));
        let writing = tokio::spawn(write_all(receiver, commands));
        let queued = QueueBytes::new(COMMAND_BYTES_WAITING_MAX);
        let commands = CommandSender { shared, queue, queued };
        Self { commands, tasks: [reading.abort_handle(), writing.abort_handle()] }
    }

    /// Returns what sends commands.
    pub(in super::super) fn commands(&self) -> &CommandSender {
        &self.commands
    }
}

impl CommandSender {
    /// Returns whether the browser has closed the connection.
    pub(in super::super) fn is_closed(&self) -> bool {
        *self.shared.closed.borrow()
    }

    /// Sends a command and waits for its result.
    pub(in super::super) async fn call<T: DeserializeOwned>(
        &self,
        session: Option<&str>,
        method: &'static str,
        params: Value,
    ) -> Result<T, ProtocolError> {
        let (sender, receiver) = oneshot::channel();
        let (id, bytes) = self.encode(session, method, &params);
        let waiting = WaitingCommand { shared: &self.shared, id };
        match &mut *self.shared.waiting.lock() {
            Some(commands) => drop(commands.insert(id, sender)),
            None => return Err(ProtocolError::Closed),
        }
        self.queue.send((bytes, None)).await.map_err(|_| ProtocolError::Closed)?;
        let result = receiver.await.map_err(|_| ProtocolError::Closed)?;
        drop(waiting);
        match result {
            CommandResult::Value(value) => serde_json::from_str(value.get())
                .map_err(|error| ProtocolError::Unexpected { method, reason: error.to_string() }),
            CommandResult::Refused(message) => Err(ProtocolError::Refused { method, message }),
            CommandResult::TooLarge => Err(ProtocolError::TooLarge { method }),
        }
    }

    /// Sends a command whose result is of no interest. Does not wait: the command is dropped if
    /// thousands, or megabytes of them, wait already.
    pub(in super::super) fn notify(
        &self,
        session: Option<&str>,
        method: &'static str,
        params: &Value,
    ) {
        let (_, bytes) = self.encode(session, method, params);
        let sent = match self.queued.take(bytes.len()) {
            Some(share) => self.queue.try_send((bytes, Some(share))),
            None => Err(mpsc::error::TrySendError::Full((bytes, None))),
        };
        if let Err(mpsc::error::TrySendError::Full(_)) = sent {
            tracing::warn!(method, "a command was dropped: the browser does not read");
        }
    }

    /// Routes the events of a browser context. Returns them in order; they end with the connection,
    /// or when too many wait.
    pub(in super::super) fn route(
        &self,
        context: String,
    ) -> (ContextRoute, mpsc::Receiver<BrowserEvent>) {
        let (sender, receiver) = mpsc::channel(EVENTS_WAITING_MAX);
        if !self.is_closed() {
            let queued = QueueBytes::new(EVENT_BYTES_WAITING_MAX);
            self.shared.routes.lock().contexts.insert(context.clone(), (sender, queued));
        }
        (ContextRoute { shared: Arc::clone(&self.shared), context }, receiver)
    }

    fn encode(&self, session: Option<&str>, method: &str, params: &Value) -> (u64, Vec<u8>) {
        let id = self.shared.next_id.fetch_add(1, Ordering::Relaxed);
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let (Some(session), Some(fields)) = (session, message.as_object_mut()) {
            fields.insert("sessionId".to_owned(), Value::from(session));
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        (id, bytes)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
        self.commands.shared.close();
    }
}

impl Drop for ContextRoute {
    fn drop(&mut self) {
        let mut routes = self.shared.routes.lock();
        routes.contexts.remove(&self.context);
        routes.sessions.retain(|_, (_, context)| *context != self.context);
    }
}

/// Forgets a command when nobody waits for it any more.
struct WaitingCommand<'a> {
    shared: &'a SharedConnection,
    id: u64,
}

impl Drop for WaitingCommand<'_> {
    fn drop(&mut self) {
        if let Some(commands) = &mut *self.shared.waiting.lock() {
            commands.remove(&self.id);
        }
    }
}

impl SharedConnection {
    /// Fails the waiting commands and ends the events.
    fn close(&self) {
        self.closed.send_replace(true);
        self.waiting.lock().take();
        *self.routes.lock() = EventRoutes::default();
    }

    /// Handles a message. `false` if it is none.
    fn receive(&self, message: Message<'_>) -> bool {
        let bytes = match message {
            Message::Complete(bytes) => bytes,
            Message::TooLarge(bytes) => {
                match leading_id(bytes) {
                    Some(id) => self.complete(id, CommandResult::TooLarge),
                    None => tracing::warn!("a message of the browser is too large"),
                }
                return true;
            }
        };
        let message: WireMessage<'_> = match serde_json::from_slice(bytes) {
            Ok(message) => message,
            Err(error) => {
                tracing::warn!(%error, "a message of the browser is not valid");
                return false;
            }
        };
        match (message.id, message.error, message.result) {
            (Some(id), Some(error), _) => {
                let details = error.data.map(|data| format!(" ({data})")).unwrap_or_default();
                self.complete(id, CommandResult::Refused(error.message + &details));
            }
            (Some(id), None, Some(result)) => self.complete(id, CommandResult::Value(result)),
            _ => {
                if let (Some(method), Some(params)) = (message.method, message.params) {
                    self.deliver(message.session_id.as_deref(), method.into_owned(), params);
                }
            }
        }
        true
    }

    fn complete(&self, id: u64, result: CommandResult) {
        let waiting = self.waiting.lock().as_mut().and_then(|commands| commands.remove(&id));
        // Whoever sent the command may have stopped waiting.
        if let Some(sender) = waiting {
            drop(sender.send(result));
        }
    }

    fn deliver(&self, session: Option<&str>, method: String, params: Box<RawValue>) {
        let mut routes = self.routes.lock();
        let known = session.and_then(|session| routes.sessions.get(session)).cloned();
        let (session, mut context) =
            known.map(|(id, context)| (Some(id), Some(context))).unwrap_or_default();
        if method == "Target.attachedToTarget"
            && let Ok(attached) = serde_json::from_str::<AttachedSession>(params.get())
        {
            context = context.or(attached.target_info.browser_context_id);
            if let Some(context) = &context
                && routes.contexts.contains_key(context)
                && attached.session_id.len() <= ID_BYTES_MAX
                && routes.sessions.len() < IDS_MAX
            {
                let id = attached.session_id;
                routes.sessions.insert(id.clone(), (id.into(), context.clone()));
            }
        }
        if method == "Target.detachedFromTarget"
            && let Ok(detached) = serde_json::from_str::<DetachedSession>(params.get())
            && let Some((_, of_session)) = routes.sessions.remove(&detached.session_id)
        {
            context = context.or(Some(of_session));
        }
        let Some(context) = context else { return };
        let Some((receiver, queued)) = routes.contexts.get(&context) else { return };
        let share = queued.take(method.len() + params.get().len());
        let event = share.map(|share| BrowserEvent::new(session, method, params, share));
        if event.is_none_or(|event| receiver.try_send(event).is_err()) {
            tracing::warn!("the events of a page are not handled fast enough");
            routes.contexts.remove(&context);
        }
    }
}

async fn read_all(shared: Arc<SharedConnection>, messages: impl AsyncRead + Unpin) {
    let mut reader = MessageReader::new(messages, MESSAGE_BYTES_MAX);
    let mut invalid = 0;
    while invalid < INVALID_MESSAGES_MAX {
        match reader.next().await {
            Ok(Some(message)) => invalid += usize::from(!shared.receive(message)),
            Ok(None) => break,
            Err(error) => {
                tracing::warn!(%error, "the browser cannot be read");
                break;
            }
        }
    }
    shared.close();
}

async fn write_all(mut commands: mpsc::Receiver<QueuedCommand>, mut to: impl AsyncWrite + Unpin) {
    let write = async {
        while let Some((bytes, share)) = commands.recv().await {
            to.write_all(&bytes).await?;
            to.flush().await?;
            drop(share);
        }
        io::Result::Ok(())
    };
    // The reader notices the end of the browser and fails what waits.
    if let Err(error) = write.await {
        tracing::debug!(%error, "the browser cannot be written to");
    }
}

/// Returns the identifier at the beginning of a message.
fn leading_id(bytes: &[u8]) -> Option<u64> {
    let digits = bytes.strip_prefix(ID_PREFIX)?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(digits.get(..end)?).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_of_truncated_messages_are_found() {
        assert_eq!(leading_id(b"{\"id\":17,\"result\":{\"da"), Some(17));
        for other in [&b"{\"id\":17"[..], b"{\"method\":\"a\"", b"", b"{\"id\":,", b"{\"id\":-1,"] {
            assert_eq!(leading_id(other), None);
        }
    }
}
