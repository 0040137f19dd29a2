//! Policies for the tests of other modules.

use telltale_engine::TimestampMs;

use super::model::{Policy, Repeat, Step, Steps};

/// Returns a policy with steps after these minutes, each to the channel `chan_<minutes>`. `repeat`
/// is the minutes after which it repeats, and how often.
pub(in crate::areas::alerting) fn policy(delays: &[u32], repeat: Option<(u32, u32)>) -> Policy {
    let step =
        |delay: &u32| Step { channel_id: format!("chan_{delay}").into(), delay_minutes: *delay };
    Policy {
        id: "esc_1".to_owned().into(),
        name: "Shop".to_owned(),
        description: None,
        enabled: true,
        steps: Steps::stored(delays.iter().map(step).collect()),
        repeat: Repeat {
            enabled: repeat.is_some(),
            after_minutes: repeat.map(|(after, _)| after),
            max: repeat.map(|(_, max)| max),
        },
        created_at: TimestampMs(0),
    }
}
