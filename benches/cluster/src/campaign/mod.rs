//! Rounds of faults on real processes in the rig of `tools/cluster-up`, each judged by the checks.

mod evidence;
mod lane;
mod node;
mod process;
mod proxy;
mod rig;
mod round;
mod run;

pub(crate) use node::node;
pub(crate) use proxy::proxy;
pub(crate) use run::campaign;
