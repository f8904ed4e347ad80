//! Two sides measured in turns, so that whatever else the machine does meets both alike.

use std::time::Duration;

use anyhow::Result;

use crate::bench::Bench;
use crate::load::{Load, Script};
use crate::measured::Measured;
use crate::process::Server;

/// Turns that each side gets.
const TURNS: u32 = 3;

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

/// Measures both sides, in turns.
///
/// # Errors
/// A side could not be measured.
pub async fn compare(
    bench: &Bench,
    one: &mut impl Side,
    other: &mut impl Side,
) -> Result<(Measured, Measured)> {
    let window = bench.window() / TURNS;
    let warm_up = (window / 2).clamp(Duration::from_millis(200), Duration::from_secs(2));
    let mut both = (one.turn(0, warm_up, window).await?, other.turn(0, warm_up, window).await?);
    for turn in 1..TURNS {
        both.0.append(&one.turn(turn, warm_up, window).await?);
        both.1.append(&other.turn(turn, warm_up, window).await?);
    }
    Ok(both)
}
