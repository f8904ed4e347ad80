//! How fast this machine is just now, beside the one on which the peers were measured.
//!
//! A peer's figure is of another hour and another machine. A fixed body stands between the two: it was measured beside the
//! peers, and it is measured again around every figure that is compared with theirs.

use std::time::Duration;

use anyhow::Result;

use crate::bench::Bench;
use crate::compare::CONNECTIONS;
use crate::fixed;
use crate::http::get;
use crate::load::{InTurn, Load};
use crate::process::Server;

/// Requests a second of a fixed body in the hour in which the peers were measured. It was taken with another load program, so
/// the scale is rough.
const REFERENCE: f64 = 100_000.0;

/// Bytes of the fixed body, as long as a page of a list.
const BODY: usize = 4_096;

const WARM_UP: Duration = Duration::from_millis(300);
const WINDOW: Duration = Duration::from_millis(700);

/// A server of the fixed body, to be asked again and again.
pub struct Speed {
    server: Server,
    last: f64,
}

impl Speed {
    /// Starts it and asks once.
    ///
    /// # Errors
    /// It cannot be started or measured.
    pub async fn start(bench: &Bench) -> Result<Self> {
        let server = fixed::start(bench, &[b'x'; BODY], 200).await?;
        let mut speed = Self { server, last: 0.0 };
        speed.last = speed.now().await?;
        Ok(speed)
    }

    /// The speed of the time since it was asked the last time, or started: 1 is as fast as where the peers were measured.
    ///
    /// # Errors
    /// It cannot be measured.
    pub async fn since_last(&mut self) -> Result<f64> {
        let before = self.last;
        self.last = self.now().await?;
        Ok(f64::midpoint(before, self.last))
    }

    async fn now(&self) -> Result<f64> {
        let load = Load {
            address: self.server.address,
            connections: CONNECTIONS,
            warm_up: WARM_UP,
            window: WINDOW,
            status: 200,
            process: None,
        };
        let measured = load.run(|number| InTurn::script(vec![get("/", None)], number)).await?;
        Ok(measured.per_second() / REFERENCE)
    }

    /// Ends the server.
    ///
    /// # Errors
    /// It does not end.
    pub async fn stop(self) -> Result<()> {
        self.server.stop().await
    }
}
