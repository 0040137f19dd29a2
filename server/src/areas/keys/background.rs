//! The background work of keys.

use std::sync::Arc;
use std::time::Duration;

use crate::app::App;
use crate::platform::sweeps::Sweep;

/// How often the last use of keys is written: a write per request would be too expensive.
const LAST_USE_PERIOD: Duration = Duration::from_secs(60);

/// Returns the sweeps of keys.
pub fn sweeps(app: &Arc<App>) -> Vec<Sweep> {
    let app = Arc::clone(app);
    vec![Sweep::new("key_use", LAST_USE_PERIOD, move |_| app.keys().store_last_used())]
}
