//! The `telltale` binary: the memory allocator and the entry point of the command line.

use std::process::ExitCode;

/// jemalloc: fast for the many small allocations of telemetry, and it returns unused memory to the
/// system. Under a steady load the resident memory is half of that with mimalloc, and stays
/// constant.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// The configuration that jemalloc reads at process start:
///
/// - as many arenas as threads are usually busy, since each arena keeps partly used pages of its
///   own;
/// - unused pages are returned to the system after a second, also while nothing is allocated, and
///   directly rather than through the "muzzy" state;
/// - thread caches hold only small allocations: with larger ones, thirty threads kept 5 of 25 MB
///   unused;
/// - no arena of their own for large allocations, which would return the pages of each body of 8 MB
///   at once and fetch them anew for the next one;
/// - no huge pages: under an ingestion load, a quarter of the resident memory was their untouched
///   parts, and they saved no time.
#[expect(unsafe_code, reason = "jemalloc looks the symbol up by this name; no other symbol has it")]
#[unsafe(export_name = "malloc_conf")]
pub static MALLOC_CONF: &[u8; 142] =
    b"narenas:4,background_thread:true,max_background_threads:1,dirty_decay_ms:1000,muzzy_decay_ms:0,tcache_max:4096,oversize_threshold:0,thp:never\0";

fn main() -> ExitCode {
    telltale_server::cli::run()
}
