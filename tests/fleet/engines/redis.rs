//! Redis or Valkey, without persistence.

use anyhow::Result;

use super::wait_until_listening;
use crate::ports::free_port;
use crate::process::{ProcessSpec, RunningProcess};
use crate::run::Context;

/// A running or stopped server.
pub struct Redis {
    spec: ProcessSpec,
    process: Option<RunningProcess>,
    port: u16,
}

impl Redis {
    /// Starts a server.
    ///
    /// # Errors
    /// Returns an error when it does not start.
    pub async fn start_new(context: &Context) -> Result<Self> {
        let port = free_port()?;
        let spec = ProcessSpec::new(&context.programs.redis, &context.folder, context.logs.join("redis.log"));
        let port_text = port.to_string();
        let spec =
            spec.args(["--port", &port_text, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
        let spec = ProcessSpec { user: context.programs.user, ..spec };
        let mut redis = Self { spec, process: None, port };
        redis.start().await?;
        Ok(redis)
    }

    /// Starts a stopped server. It has lost its data.
    ///
    /// # Errors
    /// Returns an error when it does not start.
    pub async fn start(&mut self) -> Result<()> {
        let process = self.process.insert(RunningProcess::start(&self.spec)?);
        wait_until_listening(process, self.port).await
    }

    /// Kills the server.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Returns the URL.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }
}
