//! Which monitors are under maintenance now.

use telltale_engine::TimestampMs;

use super::model::{Maintenance, MaintenanceStatus};
use crate::app::App;
use crate::areas::status::error::StatusError;
use crate::areas::status::monitors::Maintained;

/// Returns the monitors that a maintenance of any page in progress covers, each with the earliest
/// start and the latest end if there are several. Blocks only after a change of documents.
pub(in crate::areas::status) fn active(
    app: &App,
    now: TimestampMs,
) -> Result<Maintained, StatusError> {
    Ok(active_of(app.status().pages(app)?.maintenances(), now))
}

fn active_of<'a>(
    maintenances: impl IntoIterator<Item = &'a Maintenance>,
    now: TimestampMs,
) -> Maintained {
    let mut maintained = Maintained::new();
    for maintenance in maintenances {
        if maintenance.status_at(now) != MaintenanceStatus::InProgress {
            continue;
        }
        let (starts_at, ends_at) = (maintenance.starts_at, maintenance.ends_at);
        for monitor in &maintenance.monitors {
            // All contain now, so together they have no gap.
            let whole = maintained.entry(*monitor).or_insert((starts_at, ends_at));
            *whole = (whole.0.min(starts_at), whole.1.max(ends_at));
        }
    }
    maintained
}

#[cfg(test)]
mod tests {
    use super::super::examples::maintenance;
    use super::*;
    use crate::areas::status::ids::{MonitorId, PageId};

    #[test]
    fn a_monitor_is_maintained_from_the_first_start_to_the_last_end() {
        let of = |page, monitors: &[u128], starts_at, ends_at| Maintenance {
            page_id: PageId(page),
            monitors: monitors.iter().copied().map(MonitorId).collect(),
            ..maintenance(1, TimestampMs(starts_at), TimestampMs(ends_at))
        };
        let all = [
            of(1, &[1, 2], 100, 200),
            of(2, &[2], 50, 150),
            of(2, &[2, 3], 199, 300),
            of(2, &[3], 300, 400),
            of(2, &[], 0, 1_000),
        ];
        for (now, expected) in [
            (49, vec![]),
            (50, vec![(2, 50, 150)]),
            (100, vec![(1, 100, 200), (2, 50, 200)]),
            (150, vec![(1, 100, 200), (2, 100, 200)]),
            (199, vec![(1, 100, 200), (2, 100, 300), (3, 199, 300)]),
            (200, vec![(2, 199, 300), (3, 199, 300)]),
            (300, vec![(3, 300, 400)]),
            (400, vec![]),
        ] {
            let found = active_of(&all, TimestampMs(now));
            let found: Vec<(u128, i64, i64)> =
                found.into_iter().map(|(id, (from, to))| (id.0, from.0, to.0)).collect();
            assert_eq!(found, expected, "{now}");
        }
    }
}
