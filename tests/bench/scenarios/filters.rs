//! The maximum rate to 50 subscriptions with a filter that all events meet, compared with the same without filters.

use anyhow::Result;

use crate::bench::Bench;
use crate::events::{EventFigures, EventsRun};
use crate::report::{Goal, ResultRow};
use crate::site::BenchSite;

pub const NAME: &str = "filters";

/// The number of subscriptions.
const SUBSCRIPTIONS: u32 = 50;

/// The number of runs of each side. It is odd, so that there is a median.
const ROUNDS: usize = 5;

pub async fn run(bench: &mut Bench, site: &mut BenchSite) -> Result<()> {
    let kind = site.kind;
    let site = BenchSite::new(bench, kind, "filters").await?;
    let without = EventsRun {
        subscriptions: SUBSCRIPTIONS,
        hung: 0,
        filtered: false,
        rate: None,
        window: bench.window(),
    };
    let mut pairs = Vec::new();
    for round in 0..ROUNDS {
        let plain = without.run_on(&site, &format!("without-{round}")).await?;
        let with = EventsRun { filtered: true, ..without };
        pairs.push((plain, with.run_on(&site, &format!("with-{round}")).await?));
    }
    let ratio = |(plain, filtered): &(EventFigures, EventFigures)| filtered.per_second / plain.per_second;
    pairs.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let (plain, filtered) = pairs.swap_remove(ROUNDS / 2);
    let row = ResultRow::new(
        NAME,
        format!("maximum rate to {SUBSCRIPTIONS} subscriptions with a filter, {}", kind.name()),
        (filtered.per_second, "deliveries/s"),
        Some(("without filters", plain.per_second)),
        Goal::AtLeast(0.95),
    );
    bench.report(row.detail(format!("{}; without {}", filtered.latencies(), plain.latencies())));
    Ok(())
}
