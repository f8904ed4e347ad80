//! The measurement of one side: requests, time, latencies, and the server's processor time.

use std::time::Duration;

use hdrhistogram::Histogram;

/// The figures of one window of a load.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// The number of requests, writes, reads or webhooks measured inside the window.
    count: u64,
    /// The length of the window.
    window: Duration,
    /// The processor time that the measured process used in the window, if known.
    cpu: Option<Duration>,
    /// The latencies in microseconds: for a request, the time until the end of the response. Latencies above 60 seconds
    /// count as 60 seconds.
    latency: Histogram<u64>,
}

impl Measurement {
    /// Creates an empty measurement for a window of this length.
    pub fn new(window: Duration) -> Self {
        let latency =
            Histogram::new_with_bounds(1, 60_000_000, 3).expect("the bounds of the histogram are fixed");
        Self { count: 0, window, cpu: None, latency }
    }

    /// Adds a request with this latency.
    pub fn record(&mut self, latency: Duration) {
        self.count += 1;
        self.latency.saturating_record(u64::try_from(latency.as_micros()).unwrap_or(u64::MAX).max(1));
    }

    /// Sets the processor time of the window.
    pub fn set_cpu(&mut self, cpu: Option<Duration>) {
        self.cpu = cpu;
    }

    /// Merges the measurement of another client in the same window.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.latency.add(&other.latency).expect("all histograms have the same bounds");
    }

    /// Returns the number of requests.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the number of requests per second.
    pub fn per_second(&self) -> f64 {
        self.count as f64 / self.window.as_secs_f64()
    }

    /// Returns the median latency in milliseconds.
    pub fn median_ms(&self) -> f64 {
        self.percentile_ms(50.0)
    }

    /// Returns the latency at this percentile, 0 to 100, in milliseconds.
    pub fn percentile_ms(&self, percent: f64) -> f64 {
        self.latency.value_at_percentile(percent) as f64 / 1000.0
    }

    /// Returns the processor time per request in microseconds, if known.
    pub fn cpu_us(&self) -> Option<f64> {
        self.cpu.filter(|_| self.count > 0).map(|cpu| cpu.as_secs_f64() * 1e6 / self.count as f64)
    }

    /// Formats the latencies.
    pub fn latencies(&self) -> String {
        let [p50, p95, p99] = [50.0, 95.0, 99.0].map(|percent| self.percentile_ms(percent));
        format!("p50/p95/p99 {p50:.2}/{p95:.2}/{p99:.2} ms")
    }
}
