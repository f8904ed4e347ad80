//! Compares two sides by alternating short measurements and choosing the median pair. Disturbances on the machine then
//! affect both sides equally, or only pairs that do not count.

use std::time::Duration;

use anyhow::Result;

use crate::bench::Bench;
use crate::load::{Load, RequestScript};
use crate::measurement::Measurement;
use crate::process::BenchServer;

/// The number of measurements of each side. It is odd, so that there is a median.
const ROUNDS: u32 = 5;

/// The shortest window. A window this long contains every job that a server runs once per second.
const MIN_WINDOW: Duration = Duration::from_secs(1);

/// The number of connections of a full load.
pub const CONNECTIONS: usize = 32;

/// One side of a comparison.
pub trait MeasuredSide {
    /// Measures one window after a warm-up. `round` counts from 0.
    async fn measure(&mut self, round: u32, warm_up: Duration, window: Duration) -> Result<Measurement>;
}

/// A server under HTTP load.
pub struct HttpLoad<'a, F> {
    pub server: &'a BenchServer,
    pub connections: usize,
    /// The expected status of every response.
    pub status: u16,
    /// Creates the requests of a connection from its number. No two connections of all rounds have the same number.
    pub script: F,
}

impl<F: Fn(usize) -> Box<dyn RequestScript>> MeasuredSide for HttpLoad<'_, F> {
    async fn measure(&mut self, round: u32, warm_up: Duration, window: Duration) -> Result<Measurement> {
        let load = Load {
            address: self.server.address,
            connections: self.connections,
            warm_up,
            window,
            status: self.status,
            process: Some(self.server.id),
        };
        let first_number = round as usize * self.connections;
        load.run(|number| (self.script)(first_number + number)).await
    }
}

/// Measures both sides alternately and returns the pair with the median ratio of this figure.
///
/// # Errors
/// Returns an error when a side cannot be measured.
pub async fn compare(
    bench: &Bench,
    figure: fn(&Measurement) -> f64,
    left: &mut impl MeasuredSide,
    right: &mut impl MeasuredSide,
) -> Result<(Measurement, Measurement)> {
    let window = (bench.window() / ROUNDS).max(MIN_WINDOW);
    let warm_up = (window / 2).min(Duration::from_secs(2));
    let mut pairs = Vec::new();
    for round in 0..ROUNDS {
        // The side that is measured second can be affected by the first, so the sides take turns.
        pairs.push(if round % 2 == 0 {
            let left_first = left.measure(round, warm_up, window).await?;
            (left_first, right.measure(round, warm_up, window).await?)
        } else {
            let right_first = right.measure(round, warm_up, window).await?;
            (left.measure(round, warm_up, window).await?, right_first)
        });
    }
    let ratio = |(left, right): &(Measurement, Measurement)| figure(left) / figure(right);
    pairs.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    Ok(pairs.swap_remove(pairs.len() / 2))
}
