//! What a worker shows of itself.

use std::net::SocketAddr;

use super::concern::concern;

concern! {
    /// Where a worker that serves nothing else can be looked at.
    Worker, "Worker" {
        /// Address on which `worker` answers `/metrics`, `/healthz` and `/readyz`; without it, it listens nowhere.
        metrics_listen: Option<SocketAddr> = None, "CREATOR_API_METRICS_LISTEN", "ADDR";
    }
}
