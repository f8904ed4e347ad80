//! The current speed of this machine, compared with the machine on which the peers were measured.
//!
//! A peer's figure comes from another time and another machine. The throughput of a fixed body links the two: it was measured
//! together with the peers, and it is measured again around every figure that is compared with theirs.

use std::time::Duration;

use anyhow::Result;

use crate::bench::Bench;
use crate::compare::CONNECTIONS;
use crate::fixed;
use crate::http::get;
use crate::load::{Load, RequestCycle};
use crate::process::BenchServer;

/// Requests per second of a fixed body when the peers were measured. Another load program was used, so the scale is rough.
const REFERENCE: f64 = 100_000.0;

/// The length of the fixed body, that of a page of a list.
const BODY_BYTES: usize = 4_096;

const WARM_UP: Duration = Duration::from_millis(300);
const WINDOW: Duration = Duration::from_millis(700);

/// A server of the fixed body, measured repeatedly.
pub struct MachineSpeed {
    server: BenchServer,
    last: f64,
}

impl MachineSpeed {
    /// Starts the server and measures it once.
    ///
    /// # Errors
    /// Returns an error when it cannot be started or measured.
    pub async fn start(bench: &Bench) -> Result<Self> {
        let server = fixed::start(bench, &[b'x'; BODY_BYTES], 200).await?;
        let mut speed = Self { server, last: 0.0 };
        speed.last = speed.now().await?;
        Ok(speed)
    }

    /// Returns the mean speed since the last call or the start: 1 is the speed at which the peers were measured.
    ///
    /// # Errors
    /// Returns an error when it cannot be measured.
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
        let measured = load.run(|number| RequestCycle::script(vec![get("/", None)], number)).await?;
        Ok(measured.per_second() / REFERENCE)
    }

    /// Stops the server.
    ///
    /// # Errors
    /// Returns an error when it does not stop.
    pub async fn stop(self) -> Result<()> {
        self.server.stop().await
    }
}
