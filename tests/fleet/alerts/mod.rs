//! The parts of the scenario `alerts`: the rules in a shorter time scale, the processes, and the faults.

pub mod endpoint;
pub mod faults;
pub mod mailbox;
pub mod rules;
pub mod site;
