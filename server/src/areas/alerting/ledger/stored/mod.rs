//! The persistent records of alerts.

mod messages;
mod records;

pub(super) use records::{
    GroupKey, delete_alert, delete_entry, delete_message, put_alert, put_entry, put_group,
    put_message, read, read_alert, read_log,
};
