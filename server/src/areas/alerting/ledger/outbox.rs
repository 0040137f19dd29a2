//! The messages that wait in memory, by receiver.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use telltale_engine::TimestampMs;

use super::message::Message;
use super::model::{AlertId, Destination, LogEntry};

/// All messages that wait.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    queues: HashMap<Destination, Queue>,
    /// What all messages take in memory.
    bytes: usize,
    next_seq: u64,
    /// Messages that are over, but still stored because a write failed, with the entries of logs
    /// that say so.
    stale: BTreeMap<u64, Vec<StaleEntry>>,
    /// Messages that the change removes which is being stored: they are not sent any more.
    withheld: BTreeSet<u64>,
}

/// An entry that replaces one in the log of an alert, by its number.
pub(super) type StaleEntry = (AlertId, u32, LogEntry);

/// The messages to one destination.
#[derive(Debug, Default)]
struct Queue {
    messages: VecDeque<Message>,
    /// Whether the first one is being delivered.
    is_busy: bool,
    /// The number of the message that the process before may have sent: it was the first, and
    /// attempts are stored when they end.
    maybe_sent: Option<u64>,
}

/// The next message to a destination.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::alerting) enum NextMessage {
    /// It can be sent.
    Due(Box<Message>),
    /// It waits for its next attempt.
    Later(TimestampMs),
    /// There is none.
    None,
}

impl Outbox {
    /// Adds the newest message to a destination.
    pub(super) fn push(&mut self, destination: Destination, message: Message) {
        self.next_seq = self.next_seq.max(message.seq.saturating_add(1));
        self.bytes = self.bytes.saturating_add(message.bytes());
        self.queues.entry(destination).or_default().messages.push_back(message);
    }

    /// Withholds messages from their receivers until [`Self::remove`] or [`Self::release`]. None of
    /// them may be the one that is being delivered.
    pub(super) fn withhold(&mut self, seqs: &BTreeSet<u64>) {
        self.withheld.clone_from(seqs);
    }

    /// Ends [`Self::withhold`] without a removal.
    pub(super) fn release(&mut self) {
        self.withheld.clear();
    }

    /// Removes the messages with these numbers.
    pub(super) fn remove(&mut self, seqs: &BTreeSet<u64>) {
        self.withheld.clear();
        if seqs.is_empty() {
            return;
        }
        let mut freed = 0_usize;
        for queue in self.queues.values_mut() {
            queue.messages.retain(|message| {
                let is_kept = !seqs.contains(&message.seq);
                freed += if is_kept { 0 } else { message.bytes() };
                is_kept
            });
        }
        self.bytes = self.bytes.saturating_sub(freed);
    }

    /// Replaces the first message to a destination if it is the one with this number.
    pub(super) fn replace_head(
        &mut self,
        destination: &Destination,
        seq: u64,
        next: Option<Message>,
    ) {
        let Some(queue) = self.queues.get_mut(destination) else { return };
        if queue.messages.front().is_none_or(|head| head.seq != seq) {
            return;
        }
        let before = queue.messages.pop_front().map_or(0, |head| head.bytes());
        let after = next.as_ref().map_or(0, Message::bytes);
        self.bytes = self.bytes.saturating_sub(before).saturating_add(after);
        if let Some(message) = next {
            queue.messages.push_front(message);
        }
    }

    /// Forgets destinations without messages.
    pub(super) fn forget_empty(&mut self) {
        self.queues.retain(|_, queue| queue.is_busy || !queue.messages.is_empty());
    }

    /// Moves the times of the next attempts, after a change of the clock.
    pub(super) fn shift(&mut self, ms: i64) {
        self.move_times(|due| TimestampMs(due.0.saturating_add(ms)));
    }

    /// Brings forward attempts that are later than any attempt can be: the clock was changed while
    /// the server did not run.
    pub(super) fn bring_forward(&mut self, latest: TimestampMs) {
        self.move_times(|due| due.min(latest));
    }

    /// Returns all messages with their destinations.
    pub(super) fn all(&self) -> impl Iterator<Item = (&Destination, &Message)> {
        let queues = self.queues.iter();
        queues.flat_map(|(to, queue)| queue.messages.iter().map(move |message| (to, message)))
    }

    fn move_times(&mut self, moved: impl Fn(TimestampMs) -> TimestampMs) {
        for message in self.queues.values_mut().flat_map(|queue| &mut queue.messages) {
            message.due_at = moved(message.due_at);
        }
    }

    /// Remembers that a message is over whose record could not be deleted.
    pub(super) fn add_stale(&mut self, seq: u64, entries: Vec<StaleEntry>) {
        self.stale.insert(seq, entries);
    }

    /// Forgets the messages of [`Self::stale`], whose records are deleted.
    pub(super) fn clear_stale(&mut self) {
        self.stale.clear();
    }

    /// Returns the messages that are over, but still stored, with the entries to store instead.
    pub(super) fn stale(&self) -> impl Iterator<Item = (u64, &[StaleEntry])> {
        self.stale.iter().map(|(seq, entries)| (*seq, entries.as_slice()))
    }

    /// Returns the number of the next message.
    pub(super) fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// Returns roughly how much memory the messages with these numbers take, in bytes.
    pub(super) fn bytes_of(&self, seqs: &BTreeSet<u64>) -> usize {
        if seqs.is_empty() {
            return 0;
        }
        let all = self.queues.values().flat_map(|queue| &queue.messages);
        all.filter(|message| seqs.contains(&message.seq)).map(Message::bytes).sum()
    }

    /// Returns roughly how much memory all messages take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Begins to deliver the messages of a destination; `false` if somebody else does, or if there
    /// is none that may be sent.
    pub(super) fn begin_delivery(&mut self, destination: &Destination) -> bool {
        let Self { queues, withheld, .. } = self;
        match queues.get_mut(destination) {
            Some(queue) => {
                let head = queue.messages.front();
                let may_begin = head.is_none_or(|head| !withheld.contains(&head.seq));
                may_begin && !std::mem::replace(&mut queue.is_busy, true)
            }
            None => false,
        }
    }

    /// Ends what [`Self::begin_delivery`] began.
    pub(super) fn end_delivery(&mut self, destination: &Destination) {
        if let Some(queue) = self.queues.get_mut(destination) {
            queue.is_busy = false;
        }
    }

    /// Returns the first message to a destination.
    pub(super) fn head(&self, destination: &Destination) -> Option<&Message> {
        self.queues.get(destination).and_then(|queue| queue.messages.front())
    }

    /// Returns the next message to a destination.
    pub(super) fn next(&self, destination: &Destination, now: TimestampMs) -> NextMessage {
        match self.head(destination) {
            None => NextMessage::None,
            Some(message) if message.due_at > now => NextMessage::Later(message.due_at),
            Some(message) => NextMessage::Due(Box::new(message.clone())),
        }
    }

    /// Returns the destinations whose next message is due and is not being delivered, with its
    /// number and how often it was tried.
    pub(super) fn due(&self, now: TimestampMs) -> Vec<(Destination, u64, u32)> {
        let due = |(destination, queue): (&Destination, &Queue)| {
            let head =
                queue.messages.front().filter(|head| head.due_at <= now && !queue.is_busy)?;
            Some((destination.clone(), head.seq, head.attempts))
        };
        self.queues.iter().filter_map(due).collect()
    }

    /// Returns the messages that wait for a destination, oldest first.
    pub(super) fn waiting(&self, destination: &Destination) -> impl Iterator<Item = &Message> {
        self.queues.get(destination).into_iter().flat_map(|queue| &queue.messages)
    }

    /// Returns the same without the one that is being delivered.
    pub(super) fn droppable(&self, destination: &Destination) -> impl Iterator<Item = &Message> {
        let is_busy = self.queues.get(destination).is_some_and(|queue| queue.is_busy);
        self.waiting(destination).skip(usize::from(is_busy))
    }

    /// Takes notice that all messages are those of the process before.
    pub(super) fn mark_loaded(&mut self) {
        for queue in self.queues.values_mut() {
            queue.maybe_sent = queue.messages.front().map(|head| head.seq);
        }
    }

    /// Returns the messages of which certainly no attempt was made.
    pub(super) fn unsent(&self, destination: &Destination) -> impl Iterator<Item = &Message> {
        let maybe_sent = self.queues.get(destination).and_then(|queue| queue.maybe_sent);
        let is_unsent =
            move |message: &&Message| message.attempts == 0 && Some(message.seq) != maybe_sent;
        self.droppable(destination).filter(is_unsent)
    }

    /// Returns the destinations, those whose messages take the most memory first.
    pub(super) fn largest_first(&self) -> Vec<&Destination> {
        let bytes = |queue: &Queue| queue.messages.iter().map(Message::bytes).sum::<usize>();
        let sorted: BTreeMap<_, _> = self
            .queues
            .iter()
            .map(|(destination, queue)| ((bytes(queue), destination), destination))
            .collect();
        sorted.into_values().rev().collect()
    }
}
