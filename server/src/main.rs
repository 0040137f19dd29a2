//! The `telltale` binary: the allocator and the command line.

use std::process::ExitCode;

/// Telemetry arrives as many small pieces, which jemalloc is quick with, and it gives back what is not used any more: of a steady load the
/// process has half as much resident as with mimalloc, and it stays so.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// What jemalloc reads when the process begins:
///
/// - as few arenas as threads are busy at once, since each keeps pages of its own that are partly used;
/// - unused pages go back to the system after a second, also when nobody allocates, and not first to a list of those that may go;
/// - what threads keep for themselves is small pieces only: with larger ones some thirty threads kept 5 of 25 MB that nobody used;
/// - no huge pages: of a load of points, a quarter of the resident memory was their untouched rest, and they won no time.
#[expect(unsafe_code, reason = "the name by which jemalloc finds it; nothing else has it")]
#[unsafe(export_name = "malloc_conf")]
pub static MALLOC_CONF: &[u8; 121] =
    b"narenas:4,background_thread:true,max_background_threads:1,dirty_decay_ms:1000,muzzy_decay_ms:0,tcache_max:4096,thp:never\0";

fn main() -> ExitCode {
    telltale_server::cli::run()
}
