//! How long the upload of a pack takes, by its size. Each is read back and compared.

use bytes::Bytes;
use object_store::ObjectStoreExt as _;
use object_store::path::Path;

use crate::options::Options;
use crate::outcome::{Failure, Outcome};
use crate::print_line;
use crate::seeded::Seeded;
use crate::shard::write_pack;
use crate::stopwatch::{Latencies, Stopwatch, process_cpu, run_number};
use crate::store::connect;

/// Prints a row for each size.
pub(crate) async fn packs(options: &Options) -> Outcome<()> {
    let store = connect(&options.get("store", "memory:".to_owned())?)?;
    let repeats: u32 = options.within("repeats", 5, 1..=1000)?;
    print_line("pack MiB   p50 ms   max ms   CPU s per GiB sent and read");
    for mib in options.list::<usize>("mib", "1,4,16,64")? {
        if !(1..=1024).contains(&mib) {
            return Err(Failure::Usage(format!("--mib: {mib} is not within 1 to 1024")));
        }
        let mut bytes = vec![0; mib << 20];
        Seeded::new(mib as u64).fill(&mut bytes);
        let pack = Bytes::from(bytes);
        let mut latencies = Latencies::default();
        let cpu = process_cpu();
        for repeat in 0..repeats {
            let path = Path::from(format!("packs-{}/{mib}-{repeat}", run_number()));
            let stopwatch = Stopwatch::start();
            write_pack(store.as_ref(), &path, pack.clone()).await?;
            latencies.add(stopwatch.millis());
            if store.get(&path).await?.bytes().await? != pack {
                return Err(Failure::Damaged(format!("{path} is not what was uploaded")));
            }
            store.delete(&path).await?;
        }
        let gib = f64::from(repeats) * mib as f64 / 1024.0;
        let seconds = (process_cpu() - cpu).as_secs_f64();
        let (p50, max) = (latencies.quantile(0.5), latencies.quantile(1.0));
        print_line(&format!("{mib:8} {p50:8.0} {max:8.0} {:15.2}", seconds / gib));
    }
    Ok(())
}
