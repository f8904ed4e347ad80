//! Prometheus, which scrapes the processes of a fleet every second and evaluates alert rules.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{START_TIMEOUT, create_folder, wait_until_listening};
use crate::client;
use crate::ports::free_port;
use crate::process::{ProcessSpec, RunningProcess};
use crate::run::Context;

/// The time limit of a query.
const QUERY_TIMEOUT: Duration = Duration::from_secs(5);

/// A running server.
pub struct Prometheus {
    process: RunningProcess,
    http: reqwest::Client,
    port: u16,
}

/// The state of an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AlertState {
    /// The condition is true, but not long enough.
    Pending,
    Firing,
}

/// An alert that is pending or firing.
#[derive(Debug, Clone, Deserialize)]
pub struct ActiveAlert {
    pub labels: AlertLabels,
    pub annotations: AlertAnnotations,
    pub state: AlertState,
}

/// The labels of an alert, as far as needed.
#[derive(Debug, Clone, Deserialize)]
pub struct AlertLabels {
    #[serde(rename = "alertname")]
    pub name: String,
}

/// The annotations of an alert, as far as needed.
#[derive(Debug, Clone, Deserialize)]
pub struct AlertAnnotations {
    pub summary: String,
}

/// The response to a query of a number.
#[derive(Deserialize)]
struct NumberResponse {
    data: NumberData,
}

#[derive(Deserialize)]
struct NumberData {
    result: Vec<NumberResult>,
}

#[derive(Deserialize)]
struct NumberResult {
    /// The time, and the number as text.
    value: (f64, String),
}

/// The response to a query of the active alerts.
#[derive(Deserialize)]
struct AlertsResponse {
    data: AlertsData,
}

#[derive(Deserialize)]
struct AlertsData {
    alerts: Vec<ActiveAlert>,
}

impl Prometheus {
    /// Starts a server with these rules, and waits until it has scraped all targets. A target is a job and a local port.
    ///
    /// # Errors
    /// Returns an error when it does not start, such as when the rules are not valid, or when a target does not respond.
    pub async fn start(
        context: &Context,
        program: &Path,
        rules: &str,
        targets: &[(&str, u16)],
    ) -> Result<Self> {
        let folder = context.folder.join("prometheus");
        create_folder(&folder, context.programs.user)?;
        std::fs::write(folder.join("rules.yaml"), rules)?;
        let mut configuration = "global:
  scrape_interval: 1s
  scrape_timeout: 1s
  evaluation_interval: 1s
rule_files: [rules.yaml]
scrape_configs:
"
        .to_owned();
        for (job, port) in targets {
            configuration.push_str(&format!(
                "  - job_name: {job}\n    static_configs: [{{targets: ['127.0.0.1:{port}']}}]\n"
            ));
        }
        let file = folder.join("prometheus.yaml");
        std::fs::write(&file, configuration)?;
        let port = free_port()?;
        let spec = ProcessSpec::new(program, &folder, context.logs.join("prometheus.log")).args([
            format!("--config.file={}", file.display()),
            format!("--storage.tsdb.path={}", folder.join("data").display()),
            format!("--web.listen-address=127.0.0.1:{port}"),
        ]);
        let process = RunningProcess::start(&ProcessSpec { user: context.programs.user, ..spec })?;
        wait_until_listening(&process, port).await?;
        let http = reqwest::Client::builder().no_proxy().timeout(QUERY_TIMEOUT).build()?;
        let prometheus = Self { process, http, port };
        let start = Instant::now();
        while !prometheus.has_scraped(targets.len()).await? {
            if start.elapsed() > START_TIMEOUT {
                bail!("Prometheus has not scraped all targets after {} s", START_TIMEOUT.as_secs());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Ok(prometheus)
    }

    /// Returns whether the server is ready and has scraped this number of targets.
    ///
    /// # Errors
    /// Returns an error when the server has ended.
    async fn has_scraped(&self, targets: usize) -> Result<bool> {
        self.process.check()?;
        // Prometheus rejects queries with 503 until it is ready.
        let ready = format!("http://127.0.0.1:{}/-/ready", self.port);
        Ok(client::status(&self.http, &ready).await == Some(200)
            && self.number("count(up == 1)").await? == Some(targets.to_string()))
    }

    /// Returns the result of an expression with at most one value.
    async fn number(&self, expression: &str) -> Result<Option<String>> {
        let response: NumberResponse = self.get("query", &[("query", expression)]).await?;
        Ok(response.data.result.into_iter().next().map(|result| result.value.1))
    }

    async fn get<T: DeserializeOwned>(&self, query: &str, parameters: &[(&str, &str)]) -> Result<T> {
        self.process.check()?;
        let address = format!("http://127.0.0.1:{}/api/v1/{query}", self.port);
        let url = reqwest::Url::parse_with_params(&address, parameters)?;
        let response = self.http.get(url).send().await.context("Prometheus does not respond")?;
        response.error_for_status()?.json().await.context("cannot parse the response of Prometheus")
    }

    /// Returns the alerts that are pending or firing.
    ///
    /// # Errors
    /// Returns an error when the server has ended or does not respond.
    pub async fn alerts(&self) -> Result<Vec<ActiveAlert>> {
        let response: AlertsResponse = self.get("alerts", &[]).await?;
        Ok(response.data.alerts)
    }
}
