//! Records the changes that a comparison finds.

use std::rc::Rc;

use super::{Comparison, DetectedChange, OperationPath, Origin, Positions};
use crate::catalog;
use crate::rule::{Level, Rule, SchemaSite};

impl Comparison<'_> {
    /// Records a change of a schema.
    pub(crate) fn report_schema_change(
        &mut self,
        pair_index: usize,
        site: SchemaSite,
        suffix: &str,
        positions: Positions,
        details: &str,
        message: String,
    ) {
        self.push_schema_change(
            site,
            suffix,
            positions,
            details,
            message,
            Origin::Pair(pair_index, Rc::from("")),
        );
        self.check_compatible(pair_index);
    }

    /// Records a change of a property of a schema.
    pub(crate) fn report_property_change(
        &mut self,
        pair_index: usize,
        site: SchemaSite,
        suffix: &str,
        name: &str,
        positions: Positions,
        message: String,
    ) {
        self.push_schema_change(
            site,
            suffix,
            positions,
            name,
            message,
            Origin::Pair(pair_index, Rc::from(name)),
        );
        self.check_compatible(pair_index);
    }

    /// Records a change outside of schemas by a schema rule, such as a parameter that became required.
    pub(crate) fn report_by_schema_rule(
        &mut self,
        site: SchemaSite,
        suffix: &str,
        operation_path: &Rc<OperationPath>,
        positions: Positions,
        details: &str,
        message: String,
    ) {
        self.push_schema_change(
            site,
            suffix,
            positions,
            details,
            message,
            Origin::Operation(Rc::clone(operation_path)),
        );
    }

    /// Records a change of a property by a rule that is not a schema rule. Without `level`, the change has the default
    /// level of its rule.
    pub(crate) fn report_property_rule(
        &mut self,
        pair_index: usize,
        id: &str,
        level: Option<Level>,
        positions: Positions,
        name: &str,
        message: String,
    ) {
        self.push_change(id, positions, name, message, Origin::Pair(pair_index, Rc::from(name)), level);
        self.check_compatible(pair_index);
    }

    /// Sets the last change to level info if it is about valid values and the pair is compatible.
    fn check_compatible(&mut self, pair_index: usize) {
        if self.pairs[pair_index].context.is_compatible {
            self.mark_compatible(self.changes.len().saturating_sub(1));
        }
    }

    /// Records a change outside of schemas.
    pub(crate) fn report(
        &mut self,
        id: &str,
        operation_path: &Rc<OperationPath>,
        positions: Positions,
        details: &str,
        message: String,
    ) {
        self.push_change(id, positions, details, message, Origin::Operation(Rc::clone(operation_path)), None);
    }

    /// Records a change outside of schemas with another level than the default of its rule.
    pub(crate) fn report_with_level(
        &mut self,
        level: Level,
        id: &str,
        operation_path: &Rc<OperationPath>,
        positions: Positions,
        details: &str,
        message: String,
    ) {
        self.push_change(
            id,
            positions,
            details,
            message,
            Origin::Operation(Rc::clone(operation_path)),
            Some(level),
        );
    }

    fn push_schema_change(
        &mut self,
        site: SchemaSite,
        suffix: &str,
        positions: Positions,
        details: &str,
        message: String,
        origin: Origin,
    ) {
        self.changes.push(DetectedChange {
            id: site.id(suffix),
            level: catalog::schema_rule(suffix).map_or(Level::Error, |schema_rule| schema_rule.level(site)),
            site: Some(site),
            suffix: suffix.to_owned(),
            message,
            details: details.to_owned(),
            positions,
            origin,
        });
    }

    fn push_change(
        &mut self,
        id: &str,
        positions: Positions,
        details: &str,
        message: String,
        origin: Origin,
        level: Option<Level>,
    ) {
        let default_level = catalog::rule(id).map_or(Level::Error, |rule: &Rule| rule.level);
        self.changes.push(DetectedChange {
            id: id.to_owned(),
            level: level.unwrap_or(default_level),
            site: None,
            suffix: id.to_owned(),
            message,
            details: details.to_owned(),
            positions,
            origin,
        });
    }
}
