//! Figures, printed: `cargo test -- --ignored --nocapture measure`.

use telltale_server::areas::snapshots::capture::WaitFor;
use telltale_tests::Stopwatch;

use crate::site::Site;
use crate::support::{TestBrowser, processes, request};

/// Proportional set size of processes, in MiB.
fn memory(pids: &[u32]) -> u64 {
    let of = |pid: &u32| -> u64 {
        let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup"));
        let rollup = rollup.unwrap_or_default();
        let line = rollup.lines().find(|line| line.starts_with("Pss:")).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).unwrap_or(0)
    };
    pids.iter().map(of).sum::<u64>() / 1024
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "prints figures"]
async fn measure() {
    let site = Site::page("<!doctype html><h1>Hello</h1><p>Some text.").await;
    let test = TestBrowser::new(&site);
    let page = request(&site.url("/"));
    let began = Stopwatch::start();
    test.shoot(&page).await;
    eprintln!("start of the browser and first capture: {:?}", began.elapsed());
    for condition in [WaitFor::NetworkIdle, WaitFor::Load] {
        let page = page.clone().wait_for(condition.clone());
        let mut times = Vec::new();
        for _ in 0..10 {
            times.push(test.shoot(&page).await.duration);
        }
        times.sort();
        eprintln!("{condition:?}: median {:?}, slowest {:?}", times[5], times[9]);
    }
    eprintln!("idle after 21 captures: {} MiB", memory(&processes(test.root.path())));
    let pages = (0..2).map(|_| test.shoot(&page));
    let peak = async {
        let mut peak = 0;
        for _ in 0..20 {
            peak = peak.max(memory(&processes(test.root.path())));
            tokio::time::sleep(std::time::Duration::from_millis(30)).await;
        }
        peak
    };
    let (_, peak) = tokio::join!(futures_util::future::join_all(pages), peak);
    eprintln!("during two captures: {peak} MiB");
    test.end().await;
}
