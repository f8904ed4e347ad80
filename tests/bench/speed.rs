//! The current speed of this machine, relative to the machine on which the peers were measured. A peer is another
//! program with the same purpose, such as svix-server.
//!
//! The figures of peers come from another machine, and so do goals in operations per second. The throughput of a fixed body
//! makes them comparable: it was measured together with the peers, and it is measured again before and after every figure that is
//! compared with them.

use std::time::Duration;

use anyhow::Result;

use crate::bench::Bench;
use crate::compare::CONNECTIONS;
use crate::fixed;
use crate::http::get;
use crate::load::{Load, RequestCycle};
use crate::process::BenchServer;

/// Requests per second of a fixed body when the peers were measured. Another load program was used, so the scale is
/// rough.
const REFERENCE_REQUESTS_PER_SECOND: f64 = 100_000.0;

/// The length of the fixed body in bytes, similar to that of a list page.
const BODY_BYTES: usize = 4_096;

const WARM_UP: Duration = Duration::from_millis(300);
const WINDOW: Duration = Duration::from_millis(700);

/// A server with a fixed body, whose throughput is measured repeatedly.
pub struct MachineSpeed {
    server: BenchServer,
    /// The speed at the most recent measurement: 1 is the speed at which the peers were measured.
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
        speed.last = speed.measure().await?;
        Ok(speed)
    }

    /// Measures the speed, and returns the mean of this and the previous measurement. 1 is the speed at which the peers
    /// were measured.
    ///
    /// # Errors
    /// Returns an error when it cannot be measured.
    pub async fn mean_since_last(&mut self) -> Result<f64> {
        let before = self.last;
        self.last = self.measure().await?;
        Ok(f64::midpoint(before, self.last))
    }

    /// Measures the current speed.
    async fn measure(&self) -> Result<f64> {
        let load = Load {
            address: self.server.address,
            connections: CONNECTIONS,
            warm_up: WARM_UP,
            window: WINDOW,
            status: 200,
            process: None,
        };
        let measured = load.run(|number| RequestCycle::script(vec![get("/", None)], number)).await?;
        Ok(measured.per_second() / REFERENCE_REQUESTS_PER_SECOND)
    }

    /// Stops the server.
    ///
    /// # Errors
    /// Returns an error when it does not stop.
    pub async fn stop(self) -> Result<()> {
        self.server.stop().await
    }
}
