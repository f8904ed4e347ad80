//! Exports ended spans in batches, in the background.
//!
//! Ending a span never waits. If the endpoint is slow or not available, spans that exceed the queue are dropped. Drops
//! and failed exports are counted, and reported by at most one warning per [`REPORT_INTERVAL`].

use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter as OtlpExporter, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::resource::{EnvResourceDetector, ResourceDetector, TelemetryResourceDetector};
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, SdkTracerProvider, Span, SpanData, SpanExporter, SpanProcessor,
};
use tokio::runtime::{Builder, Handle, Runtime};

use super::TRACER;
use super::settings::TraceSettings;

/// The default of `service.name`.
const SERVICE_NAME: &str = "creator-api";
/// The minimum interval between warnings about spans that were not exported.
const REPORT_INTERVAL: Duration = Duration::from_secs(60);
/// How long the end of the process waits for the export of the remaining spans.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);
/// Maximum number of bytes of an endpoint's response that are read.
const MAX_RESPONSE_BYTES: usize = 64 * 1024;

/// Exports the remaining spans on drop, for at most 3 seconds.
#[derive(Debug)]
pub struct TraceGuard {
    provider: SdkTracerProvider,
    losses: Arc<Losses>,
    /// Sends the exports. Dropped last.
    _runtime: Runtime,
}

impl Drop for TraceGuard {
    fn drop(&mut self) {
        // A failure is among the reported losses.
        let _ = self.provider.shutdown_with_timeout(SHUTDOWN_TIMEOUT);
        let queued = self.losses.queued.load(Ordering::Relaxed);
        self.losses.add("export_failed", queued, "the process ended before");
        self.losses.report(Duration::ZERO);
    }
}

/// Starts the export of traces for this process. Drop the returned guard outside of asynchronous tasks.
///
/// The exports run in a runtime with a thread of its own, since the HTTP library reads interim responses (status 1xx)
/// without a limit: an endpoint that sends them without end must not delay requests.
///
/// # Errors
/// Returns an error when the HTTP client or the thread cannot be created, or if traces were already started.
pub fn start(settings: &TraceSettings) -> Result<TraceGuard, TraceError> {
    let tls = crate::tls::client_config(Vec::new()).map_err(|error| TraceError(error.to_string()))?;
    let client = reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(settings.timeout)
        .build()
        .map_err(|error| TraceError(error.to_string()))?;
    let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("traces").enable_all().build();
    let runtime = runtime.map_err(|error| TraceError(error.to_string()))?;
    let exporter = OtlpExporter::builder()
        .with_http()
        .with_http_client(ExportClient { client, runtime: runtime.handle().clone() })
        .build()
        .map_err(|error| TraceError(error.to_string()))?;
    let losses = Arc::new(Losses::default());
    let exporter = ReportingExporter { exporter, losses: Arc::clone(&losses) };
    // The builder reads the variables of the batch processor.
    let config = BatchConfigBuilder::default().with_max_queue_size(settings.queue_size).build();
    let batches = BatchSpanProcessor::builder(exporter).with_batch_config(config).build();
    let processor =
        BoundedProcessor { batches, losses: Arc::clone(&losses), queue_size: settings.queue_size };
    let provider =
        SdkTracerProvider::builder().with_resource(resource(settings)).with_span_processor(processor).build();
    match TRACER.set(provider.tracer(SERVICE_NAME)) {
        Ok(()) => Ok(TraceGuard { provider, losses, _runtime: runtime }),
        Err(_) => Err(TraceError("traces were started twice".to_owned())),
    }
}

/// Why the export of traces cannot start.
#[derive(Debug, thiserror::Error)]
#[error("traces cannot be exported: {0}")]
pub struct TraceError(String);

/// Returns the attributes of this process. `OTEL_RESOURCE_ATTRIBUTES` replaces and adds attributes, and
/// `OTEL_SERVICE_NAME` replaces the name in either.
fn resource(settings: &TraceSettings) -> Resource {
    let detectors: [Box<dyn ResourceDetector>; 2] =
        [Box::new(TelemetryResourceDetector), Box::new(EnvResourceDetector::new())];
    let instance_id = uuid::Builder::from_random_bytes(rand::random()).into_uuid().to_string();
    let resource = Resource::builder_empty()
        .with_attributes([
            KeyValue::new("service.name", SERVICE_NAME),
            KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
            KeyValue::new("service.instance.id", instance_id),
            KeyValue::new("process.pid", i64::from(std::process::id())),
        ])
        .with_detectors(&detectors);
    match &settings.service_name {
        Some(name) => resource.with_service_name(name.clone()),
        None => resource,
    }
    .build()
}

/// Spans that were not exported.
#[derive(Debug, Default)]
struct Losses {
    /// The number of ended spans that wait for their export.
    queued: AtomicUsize,
    /// The number of lost spans that no warning has reported yet.
    unreported: AtomicU64,
    /// The cause of the most recent loss, and when the most recent warning was logged.
    last: Mutex<(String, Option<Instant>)>,
}

impl Losses {
    fn add(&self, reason: &'static str, spans: usize, cause: &str) {
        if spans == 0 {
            return;
        }
        let spans = u64::try_from(spans).unwrap_or(u64::MAX);
        metrics::counter!("trace_spans_dropped_total", "reason" => reason).increment(spans);
        self.unreported.fetch_add(spans, Ordering::Relaxed);
        cause.clone_into(&mut self.last.lock().unwrap_or_else(PoisonError::into_inner).0);
    }

    /// Logs a warning if spans were lost since the last one, which must have been at least `interval` ago.
    fn report(&self, interval: Duration) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.1.is_some_and(|at| at.elapsed() < interval) {
            return;
        }
        let spans = self.unreported.swap(0, Ordering::Relaxed);
        if spans > 0 {
            last.1 = Some(Instant::now());
            tracing::warn!(spans, cause = last.0, "spans of traces were not exported");
        }
    }
}

/// Passes ended spans to the batch processor. Drops those that exceed the queue.
#[derive(Debug)]
struct BoundedProcessor {
    batches: BatchSpanProcessor,
    losses: Arc<Losses>,
    queue_size: usize,
}

impl SpanProcessor for BoundedProcessor {
    fn on_start(&self, _span: &mut Span, _context: &Context) {}

    fn on_end(&self, span: SpanData) {
        if self.losses.queued.fetch_add(1, Ordering::Relaxed) >= self.queue_size {
            self.losses.queued.fetch_sub(1, Ordering::Relaxed);
            self.losses.add("queue_full", 1, "the queue is full");
            return;
        }
        self.batches.on_end(span);
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.batches.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.batches.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.batches.set_resource(resource);
    }
}

/// Exports batches, and records those that fail.
#[derive(Debug)]
struct ReportingExporter {
    exporter: OtlpExporter,
    losses: Arc<Losses>,
}

impl SpanExporter for ReportingExporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        let result = self.exporter.export(batch).await;
        self.losses.queued.fetch_sub(spans, Ordering::Relaxed);
        if let Err(error) = &result {
            let cause = match error {
                OTelSdkError::InternalFailure(cause) => cause.clone(),
                error => error.to_string(),
            };
            self.losses.add("export_failed", spans, &cause);
        }
        self.losses.report(REPORT_INTERVAL);
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

/// Sends the requests of the exporter, whose thread does not belong to the runtime, in the runtime.
struct ExportClient {
    client: reqwest::Client,
    runtime: Handle,
}

impl fmt::Debug for ExportClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExportClient")
    }
}

type ResponseFuture<'a> = Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'a>>;

impl HttpClient for ExportClient {
    fn send_bytes<'a, 'b>(&'a self, request: Request<Bytes>) -> ResponseFuture<'b>
    where
        'a: 'b,
        Self: 'b,
    {
        let task = self.runtime.spawn(send(self.client.clone(), request));
        Box::pin(async move { Ok(task.await??) })
    }
}

/// Sends a request. The errors do not contain the URL, which can contain credentials.
async fn send(client: reqwest::Client, request: Request<Bytes>) -> Result<Response<Bytes>, reqwest::Error> {
    let exchange = async {
        let mut response = client.execute(request.try_into()?).await?;
        let mut copy = Response::new(Bytes::new());
        *copy.status_mut() = response.status();
        *copy.headers_mut() = std::mem::take(response.headers_mut());
        let mut body = Vec::new();
        while body.len() < MAX_RESPONSE_BYTES
            && let Some(chunk) = response.chunk().await?
        {
            body.extend_from_slice(&chunk);
        }
        *copy.body_mut() = body.into();
        Ok(copy)
    };
    exchange.await.map_err(reqwest::Error::without_url)
}
