//! Ten faults, one after the other: each fires its own alert, no other, and the alert ends after the repair.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::alerts::faults::Fault;
use crate::alerts::rules;
use crate::alerts::site::Site;
use crate::engines::prometheus::{ActiveAlert, AlertState, Prometheus};
use crate::report::{Figure, Report, count};
use crate::run::Context;

/// The scenario's name, as used with `--only`.
pub const NAME: &str = "alerts";

/// The time limit for an alert to fire, and to end.
const LIMIT: Duration = Duration::from_secs(60);

/// The time between two queries of the alerts. Prometheus evaluates the rules every second.
const QUERY_INTERVAL: Duration = Duration::from_millis(200);

/// Injects the faults.
///
/// # Errors
/// Returns an error when a part does not start, or when an alert does not fire or does not end.
pub async fn run(context: &Context, report: &mut Report) -> Result<()> {
    let Some(program) = &context.programs.prometheus else {
        let skipped = Figure::measured("skipped: `prometheus` is not installed", 0.0, "faults");
        report.add(skipped.detail("Debian: apt-get install prometheus"));
        return Ok(());
    };
    let mut site = Site::start(context).await?;
    let targets = [("creator-api", site.server.port()), ("creator-api-worker", site.worker.port())];
    let prometheus = Prometheus::start(context, program, &rules::shortened()?, &targets).await?;
    let mut others = BTreeSet::new();
    for fault in Fault::ALL {
        if *fault == Fault::DiskNearlyFull && !site.has_small_disk() {
            let name = "skipped: disk nearly full; this machine does not allow to mount a file system";
            report.add(Figure::measured(name, 0.0, "faults"));
            continue;
        }
        others.extend(test(*fault, &mut site, &prometheus, report).await?);
    }
    let names: Vec<&str> = others.iter().map(String::as_str).collect();
    let figure = Figure::exactly("other alerts that fired", count(others.len()), "alerts", 0.0);
    report.add(figure.detail(format!("{} {}", names.join(", "), site.stop().await)));
    Ok(())
}

/// Injects a fault, waits for its alert, repairs the fault, and waits for the end of the alert. Returns the other alerts that
/// fired until none was active.
async fn test(
    fault: Fault,
    site: &mut Site,
    prometheus: &Prometheus,
    report: &mut Report,
) -> Result<BTreeSet<String>> {
    // The data folders are then on the file system of this machine, which can be full.
    let ignored = (!site.has_small_disk()).then(|| Fault::DiskNearlyFull.alert());
    let mut watch = Watch { prometheus, ignored, fired: BTreeSet::new(), summary: String::new() };
    watch.wait(<[ActiveAlert]>::is_empty, "the alerts of the start to end").await?;
    watch.fired.clear();
    let expected = fault.alert();
    let start = Instant::now();
    let injected = fault.inject(site).await?;
    let is_firing = |alerts: &[ActiveAlert]| alerts.iter().any(|alert| is_firing(alert, expected));
    watch.wait(is_firing, expected).await?;
    let to_alert = start.elapsed().as_secs_f64();
    let fired_at = Instant::now();
    while fired_at.elapsed() < fault.continues_for() {
        if !is_firing(&watch.query().await?) {
            bail!(
                "{expected} ended {:.1} s after it fired, before the repair",
                fired_at.elapsed().as_secs_f64()
            );
        }
        tokio::time::sleep(QUERY_INTERVAL).await;
    }
    let summary = watch.summary.clone();
    let repaired = Instant::now();
    injected.repair(site).await?;
    watch.wait(|alerts| !is_firing(alerts), &format!("the end of {expected}")).await?;
    let to_end = repaired.elapsed().as_secs_f64();
    let name = format!("{}: from the fault to {expected}", fault.name());
    let detail = format!("ended {to_end:.1} s after the repair; \"{summary}\"");
    report.add(Figure::at_most(name, to_alert, "s", LIMIT.as_secs_f64()).detail(detail));
    let name = format!("{}: from the repair to the end of the alert", fault.name());
    report.add(Figure::at_most(name, to_end, "s", LIMIT.as_secs_f64()));
    // Consequences of the fault, such as a long queue, can continue after the repair.
    watch.wait(<[ActiveAlert]>::is_empty, "all alerts to end").await?;
    let mut others = watch.fired;
    others.remove(expected);
    Ok(others.into_iter().map(|other| format!("{other} ({})", fault.name())).collect())
}

/// Queries the alerts, and records which have fired.
struct Watch<'a> {
    prometheus: &'a Prometheus,
    /// An alert that is ignored.
    ignored: Option<&'static str>,
    fired: BTreeSet<String>,
    /// The summary of an alert that fired last.
    summary: String,
}

impl Watch<'_> {
    /// Returns the active alerts.
    ///
    /// # Errors
    /// Returns an error when Prometheus does not respond.
    async fn query(&mut self) -> Result<Vec<ActiveAlert>> {
        let mut alerts = self.prometheus.alerts().await?;
        alerts.retain(|alert| Some(alert.labels.name.as_str()) != self.ignored);
        for alert in alerts.iter().filter(|alert| alert.state == AlertState::Firing) {
            self.fired.insert(alert.labels.name.clone());
            self.summary.clone_from(&alert.annotations.summary);
        }
        Ok(alerts)
    }

    /// Waits until a condition of the active alerts is true.
    ///
    /// # Errors
    /// Returns an error when it takes longer than [`LIMIT`].
    async fn wait(&mut self, condition: impl Fn(&[ActiveAlert]) -> bool, description: &str) -> Result<()> {
        let start = Instant::now();
        loop {
            let alerts = self.query().await?;
            if condition(&alerts) {
                return Ok(());
            }
            if start.elapsed() > LIMIT {
                let active: Vec<String> =
                    alerts.iter().map(|alert| format!("{} {:?}", alert.labels.name, alert.state)).collect();
                bail!("waited {} s for {description}; active: [{}]", LIMIT.as_secs(), active.join(", "));
            }
            tokio::time::sleep(QUERY_INTERVAL).await;
        }
    }
}

fn is_firing(alert: &ActiveAlert, name: &str) -> bool {
    alert.state == AlertState::Firing && alert.labels.name == name
}
