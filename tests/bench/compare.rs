//! Two sides measured in turns, close to each other, of which the turn in the middle counts: what else the machine does
//! meets both alike, or one turn and not the others.

use std::time::Duration;

use anyhow::Result;

use crate::bench::Bench;
use crate::load::{Load, Script};
use crate::measured::Measured;
use crate::process::Server;

/// Turns that each side gets: an odd number, so that one of them is in the middle.
const TURNS: u32 = 5;

/// The shortest turn: what a server does once a second falls into each.
const SHORTEST: Duration = Duration::from_secs(1);

/// Connections of a full load.
pub const CONNECTIONS: usize = 32;

/// One side of a comparison.
pub trait Side {
    /// One turn: a warm-up, then a window that is measured. `turn` counts from 0.
    async fn turn(&mut self, turn: u32, warm_up: Duration, window: Duration) -> Result<Measured>;
}

/// A server under load over HTTP.
pub struct Http<'a, F> {
    pub server: &'a Server,
    pub connections: usize,
    pub status: u16,
    /// Makes the part of a connection, given its number, which is never the same twice.
    pub script: F,
}

impl<F: Fn(usize) -> Box<dyn Script>> Side for Http<'_, F> {
    async fn turn(&mut self, turn: u32, warm_up: Duration, window: Duration) -> Result<Measured> {
        let load = Load {
            address: self.server.address,
            connections: self.connections,
            warm_up,
            window,
            status: self.status,
            process: Some(self.server.id),
        };
        let first = turn as usize * self.connections;
        load.run(|number| (self.script)(first + number)).await
    }
}

/// Measures both sides in turns, and gives the two of that turn whose ratio of this figure is the median.
///
/// # Errors
/// A side could not be measured.
pub async fn compare(
    bench: &Bench,
    figure: fn(&Measured) -> f64,
    one: &mut impl Side,
    other: &mut impl Side,
) -> Result<(Measured, Measured)> {
    let window = (bench.window() / TURNS).max(SHORTEST);
    let warm_up = (window / 2).min(Duration::from_secs(2));
    let mut pairs = Vec::new();
    for turn in 0..TURNS {
        // Who comes first finds the machine as the other left it, so that they take turns in that, too.
        pairs.push(if turn % 2 == 0 {
            let first = one.turn(turn, warm_up, window).await?;
            (first, other.turn(turn, warm_up, window).await?)
        } else {
            let first = other.turn(turn, warm_up, window).await?;
            (one.turn(turn, warm_up, window).await?, first)
        });
    }
    let ratio = |(one, other): &(Measured, Measured)| figure(one) / figure(other);
    pairs.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    Ok(pairs.swap_remove(pairs.len() / 2))
}
