//! The default quotas.

use std::num::NonZeroU32;

use super::concern::concern;

concern! {
    /// What a key without a quota of its own may do (seed 8).
    Limits, "Limits" {
        /// Requests a key may make in one clock minute.
        default_per_minute: NonZeroU32 = Some("60"), "CREATOR_API_DEFAULT_PER_MINUTE", "REQUESTS";
        /// Requests a key may make in one UTC day.
        default_per_day: NonZeroU32 = Some("1000"), "CREATOR_API_DEFAULT_PER_DAY", "REQUESTS";
    }
}
