//! The public API under `/api/v1`, the Developer API under `/developer/v1` ([`developer`]), and the Platform API under
//! `/platform/v1` ([`platform`]).
//!
//! Contains authentication, rate limiting, error responses, the handlers of `v1/` and the bodies of events. Accesses
//! the database only through `domain` and `rate_limit`.

pub mod call;
pub mod candidate;
#[cfg(test)]
mod contract_tests;
mod cursor;
pub mod deprecations;
pub mod developer;
mod envelope;
pub mod error;
#[cfg(test)]
mod event_filter_tests;
pub mod events;
mod feed_page;
pub mod generated;
pub mod idempotency;
pub mod middleware;
mod patterns;
pub mod platform;
mod response_cache;
pub mod state;
pub mod v1;

use contract_runtime::validate::schemas;

/// Compiles the schemas of v1, of the Developer API and of the Platform API. A server that this process creates meanwhile waits for
/// them.
pub fn compile_contracts() {
    use developer::generated::operations as developer_operations;
    use platform::generated::operations as platform_operations;

    let contracts =
        [&generated::operations::CONTRACT, &developer_operations::CONTRACT, &platform_operations::CONTRACT];
    for contract in contracts {
        // If this fails, creating a server returns the error.
        let _ = schemas::shared(contract, patterns::describe);
    }
}
