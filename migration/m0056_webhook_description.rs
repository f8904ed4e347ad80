//! The description of a webhook, which tells members what its endpoint is for.

use crate::definition::Migration;

pub(crate) const MIGRATION: Migration = Migration {
    name: "m0056_webhook_description",
    floor: 37,
    added_columns: &[("webhook_subscriptions", "description TEXT")],
    ..Migration::EMPTY
};
