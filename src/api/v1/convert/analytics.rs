//! Conversions of the analytics summary.

use super::{enum_map, saturating_i32};
use crate::generated::schemas;
use domain::analytics::{AnalyticsFigures, AnalyticsSummary, Interval, Revenue, SeriesPoint};

enum_map!(schemas::Interval => Interval);

impl From<Revenue> for schemas::Revenue {
    fn from(revenue: Revenue) -> Self {
        Self {
            currency: revenue.currency,
            gross_amount: revenue.gross_amount,
            discount_amount: revenue.discount_amount,
            tax_amount: revenue.tax_amount,
            refunded_amount: revenue.refunded_amount,
            net_amount: revenue.net_amount,
            orders: saturating_i32(revenue.orders),
            refunds: saturating_i32(revenue.refunds),
        }
    }
}

fn students(figures: &AnalyticsFigures) -> schemas::AnalyticsStudents {
    schemas::AnalyticsStudents {
        new: saturating_i32(figures.students_new),
        total: saturating_i32(figures.students_total),
    }
}

fn enrollments(figures: &AnalyticsFigures) -> schemas::AnalyticsEnrollments {
    schemas::AnalyticsEnrollments {
        created: saturating_i32(figures.enrollments_created),
        revoked: saturating_i32(figures.enrollments_revoked),
        active: saturating_i32(figures.enrollments_active),
    }
}

fn completion(figures: &AnalyticsFigures) -> schemas::AnalyticsCompletion {
    schemas::AnalyticsCompletion {
        enrollments_in_cohort: saturating_i32(figures.enrollments_created),
        completed: saturating_i32(figures.completed),
        completion_rate_percent: figures.completion_rate_percent.map(saturating_i32),
        average_percent_complete: figures.average_percent_complete.map(saturating_i32),
    }
}

impl From<SeriesPoint> for schemas::AnalyticsPoint {
    fn from(point: SeriesPoint) -> Self {
        let figures = point.figures;
        Self {
            starts_at: point.starts_at.into(),
            students: students(&figures),
            enrollments: enrollments(&figures),
            completion: completion(&figures),
            certificates_issued: saturating_i32(figures.certificates_issued),
            revenue: figures.revenue.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<AnalyticsSummary> for schemas::AnalyticsSummary {
    fn from(summary: AnalyticsSummary) -> Self {
        let figures = summary.figures;
        Self {
            window: schemas::AnalyticsWindow {
                from: summary.from.into(),
                to: summary.to.into(),
                timezone: summary.timezone,
            },
            students: students(&figures),
            enrollments: enrollments(&figures),
            completion: completion(&figures),
            certificates_issued: saturating_i32(figures.certificates_issued),
            revenue: figures.revenue.into_iter().map(Into::into).collect(),
            series: summary.series.into_iter().map(Into::into).collect(),
            data_as_of: summary.data_as_of.into(),
        }
    }
}
