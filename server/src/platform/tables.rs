//! The tables of records of this program, all in one place: no two of them share an id.

use telltale_engine::Table;

/// A table of records. Its owner documents its keys and values; `docs/FORMAT.md` lists them.
///
/// The numbers are ids on disk. Persisted: never renumber, never reuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RecordTable {
    /// Values that concern all jobs.
    JobsMeta = 1,
    /// Status and timer of jobs that are not dead.
    JobStates = 2,
    /// Bodies of jobs.
    JobBodies = 3,
    /// Failures of attempts.
    JobFailures = 4,
    /// Queues by number.
    JobQueues = 5,
    /// Workers.
    JobWorkers = 6,
    /// Dead jobs.
    DeadJobs = 7,
    /// Which events are counted in error groups.
    ErrorsMark = 32,
    /// Counts and strings of error groups, as of the mark.
    ErrorGroups = 33,
    /// The states that people gave to error groups.
    ErrorGroupStates = 34,
    /// The users of error groups.
    ErrorUsers = 35,
    /// Ids of events with occurrences.
    ErrorsSeen = 36,
    /// Error groups whose events are being deleted.
    ErrorsDoomed = 37,
    /// Who changed error groups, and comments on them.
    ErrorActivity = 38,
    /// Alerts, open and resolved.
    Alerts = 48,
    /// The states of groups of alert rules.
    AlertGroups = 49,
    /// The logs of alerts.
    AlertLog = 50,
    /// Messages about alerts that are not delivered yet.
    AlertOutbox = 51,
    /// How often each notification channel was used.
    ChannelCounters = 52,
    /// Alerts of other senders that have not ended.
    ReceivedAlerts = 53,
    /// The conditions of monitors.
    MonitorStates = 64,
    /// How long monitors were in each state, by day.
    MonitorDays = 65,
    /// Changes of the states of monitors.
    MonitorChanges = 66,
    /// When monitors were last attended to.
    MonitorAlive = 67,
    /// Subscribers of status pages.
    Subscribers = 68,
}

impl RecordTable {
    /// Returns the table for calls of the engine.
    pub const fn table(self) -> Table {
        Table::new(self as u8, self.name())
    }

    /// Returns the name for messages and documentation.
    const fn name(self) -> &'static str {
        match self {
            Self::JobsMeta => "jobs_meta",
            Self::JobStates => "jobs_state",
            Self::JobBodies => "jobs_body",
            Self::JobFailures => "jobs_failure",
            Self::JobQueues => "jobs_queue",
            Self::JobWorkers => "jobs_worker",
            Self::DeadJobs => "jobs_dead",
            Self::ErrorsMark => "errors_mark",
            Self::ErrorGroups => "errors_groups",
            Self::ErrorGroupStates => "errors_courses",
            Self::ErrorUsers => "errors_users",
            Self::ErrorsSeen => "errors_seen",
            Self::ErrorsDoomed => "errors_doomed",
            Self::ErrorActivity => "errors_activity",
            Self::Alerts => "alerts",
            Self::AlertGroups => "alert_groups",
            Self::AlertLog => "alert_log",
            Self::AlertOutbox => "alert_outbox",
            Self::ChannelCounters => "channel_counters",
            Self::ReceivedAlerts => "received_alerts",
            Self::MonitorStates => "monitor_states",
            Self::MonitorDays => "monitor_days",
            Self::MonitorChanges => "monitor_changes",
            Self::MonitorAlive => "monitor_alive",
            Self::Subscribers => "subscribers",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_golden_ids_and_names() {
        let golden = [
            (RecordTable::JobsMeta, 1, "jobs_meta"),
            (RecordTable::JobStates, 2, "jobs_state"),
            (RecordTable::JobBodies, 3, "jobs_body"),
            (RecordTable::JobFailures, 4, "jobs_failure"),
            (RecordTable::JobQueues, 5, "jobs_queue"),
            (RecordTable::JobWorkers, 6, "jobs_worker"),
            (RecordTable::DeadJobs, 7, "jobs_dead"),
            (RecordTable::ErrorsMark, 32, "errors_mark"),
            (RecordTable::ErrorGroups, 33, "errors_groups"),
            (RecordTable::ErrorGroupStates, 34, "errors_courses"),
            (RecordTable::ErrorUsers, 35, "errors_users"),
            (RecordTable::ErrorsSeen, 36, "errors_seen"),
            (RecordTable::ErrorsDoomed, 37, "errors_doomed"),
            (RecordTable::ErrorActivity, 38, "errors_activity"),
            (RecordTable::Alerts, 48, "alerts"),
            (RecordTable::AlertGroups, 49, "alert_groups"),
            (RecordTable::AlertLog, 50, "alert_log"),
            (RecordTable::AlertOutbox, 51, "alert_outbox"),
            (RecordTable::ChannelCounters, 52, "channel_counters"),
            (RecordTable::ReceivedAlerts, 53, "received_alerts"),
            (RecordTable::MonitorStates, 64, "monitor_states"),
            (RecordTable::MonitorDays, 65, "monitor_days"),
            (RecordTable::MonitorChanges, 66, "monitor_changes"),
            (RecordTable::MonitorAlive, 67, "monitor_alive"),
            (RecordTable::Subscribers, 68, "subscribers"),
        ];
        for (table, id, name) in golden {
            assert_eq!(table.table(), Table::new(id, name));
        }
    }
}
