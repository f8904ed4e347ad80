//! Converts the data of changes from the generated types of the contract to those of the domain.

use poem_openapi::types::MaybeUndefined;

use super::generated;
use domain::certificates::CertificateIssue;
use domain::courses::{CourseStatus, CourseUpsert, LessonType, LessonUpsert, ModuleUpsert, Money};
use domain::enrollments::{EnrollmentGrant, EnrollmentRevoke, EnrollmentSource, ProgressRecord};
use domain::live_sessions::LiveSessionUpsert;
use domain::orders::{OrderPay, OrderPayItem, OrderPayReceipt, OrderRefund};
use domain::recordings::RecordingReady;
use domain::students::StudentUpsert;
use domain::workspaces::WorkspaceUpsert;
use domain::{FieldUpdate, IdOrKey};

/// Converts an optional field that null clears.
fn update<T, U: From<T>>(value: MaybeUndefined<T>) -> FieldUpdate<U> {
    match value {
        MaybeUndefined::Undefined => FieldUpdate::Absent,
        MaybeUndefined::Null => FieldUpdate::Null,
        MaybeUndefined::Value(value) => FieldUpdate::Value(value.into()),
    }
}

/// Converts an optional field for which null is equivalent to a missing field.
fn optional<T, U: From<T>>(value: MaybeUndefined<T>) -> Option<U> {
    value.take().map(U::from)
}

fn list<T, U: From<T>>(items: Vec<T>) -> Vec<U> {
    items.into_iter().map(U::from).collect()
}

/// Implements the conversion of an enum, variant by variant.
macro_rules! enum_map {
    ($source:ident => $target:ident: $($variant:ident),+) => {
        impl From<generated::$source> for $target {
            fn from(value: generated::$source) -> Self {
                match value { $(generated::$source::$variant => Self::$variant),+ }
            }
        }
    };
}

enum_map!(CourseUpsertDataStatus => CourseStatus: Draft, Published, Archived);
enum_map!(CourseLessonType => LessonType: Video, Audio, Text, Download, Quiz, Assignment, Live);
enum_map!(EnrollmentGrantDataSource => EnrollmentSource: Api, Order, Manual, Import);

impl From<generated::WorkspaceUpsertData> for WorkspaceUpsert {
    fn from(data: generated::WorkspaceUpsertData) -> Self {
        Self {
            key: data.key,
            name: data.name,
            owner_email: data.owner_email,
            per_minute: update(data.per_minute),
            per_day: update(data.per_day),
        }
    }
}

impl From<generated::CourseUpsertData> for CourseUpsert {
    fn from(data: generated::CourseUpsertData) -> Self {
        Self {
            key: data.key,
            slug: data.slug,
            title: data.title,
            status: data.status.into(),
            description: update(data.description),
            language: update(data.language),
            image_url: update(data.image_url),
            url: update(data.url),
            price: update(data.price),
            modules: data.modules.map(list),
        }
    }
}

impl From<generated::CoursePrice> for Money {
    fn from(price: generated::CoursePrice) -> Self {
        Self { amount: price.amount, currency: price.currency }
    }
}

impl From<generated::CourseModule> for ModuleUpsert {
    fn from(module: generated::CourseModule) -> Self {
        Self { key: module.key, title: module.title, lessons: list(module.lessons) }
    }
}

impl From<generated::CourseLesson> for LessonUpsert {
    fn from(lesson: generated::CourseLesson) -> Self {
        Self {
            key: lesson.key,
            title: lesson.title,
            lesson_type: lesson.r#type.into(),
            duration_seconds: optional(lesson.duration_seconds),
            free_preview: optional(lesson.free_preview).unwrap_or(false),
        }
    }
}

impl From<generated::StudentUpsertData> for StudentUpsert {
    fn from(data: generated::StudentUpsertData) -> Self {
        Self {
            key: data.key,
            email: data.email,
            name: update(data.name),
            external_id: update(data.external_id),
            tags: data.tags,
            metadata: data.metadata,
        }
    }
}

impl From<generated::StudentDeleteData> for IdOrKey {
    fn from(data: generated::StudentDeleteData) -> Self {
        data.student.into()
    }
}

impl From<generated::EnrollmentGrantData> for EnrollmentGrant {
    fn from(data: generated::EnrollmentGrantData) -> Self {
        Self {
            student: data.student.into(),
            course: data.course.into(),
            source: optional(data.source).unwrap_or(EnrollmentSource::Manual),
            expires_at: optional(data.expires_at),
        }
    }
}

impl From<generated::EnrollmentRevokeData> for EnrollmentRevoke {
    fn from(data: generated::EnrollmentRevokeData) -> Self {
        Self { student: data.student.into(), course: data.course.into(), reason: data.reason.take() }
    }
}

impl From<generated::ProgressRecordData> for ProgressRecord {
    fn from(data: generated::ProgressRecordData) -> Self {
        Self { student: data.student.into(), course: data.course.into(), lesson: data.lesson.into() }
    }
}

impl From<generated::OrderPayData> for OrderPay {
    fn from(data: generated::OrderPayData) -> Self {
        Self {
            key: data.key,
            number: data.number,
            student: data.student.into(),
            currency: data.currency,
            items: list(data.items),
            discount_amount: data.discount_amount.take().unwrap_or(0),
            tax_amount: data.tax_amount.take().unwrap_or(0),
            receipt: optional(data.receipt),
        }
    }
}

impl From<generated::PaidItem> for OrderPayItem {
    fn from(item: generated::PaidItem) -> Self {
        Self {
            course: item.course.into(),
            title: item.title.take(),
            quantity: item.quantity.take().unwrap_or(1),
            unit_amount: item.unit_amount,
        }
    }
}

impl From<generated::PaidReceipt> for OrderPayReceipt {
    fn from(receipt: generated::PaidReceipt) -> Self {
        Self { number: receipt.number, url: receipt.url.take() }
    }
}

impl From<generated::OrderRefundData> for OrderRefund {
    fn from(data: generated::OrderRefundData) -> Self {
        Self { order: data.order.into(), amount: data.amount.take(), reason: data.reason.take() }
    }
}

impl From<generated::LiveSessionUpsertData> for LiveSessionUpsert {
    fn from(data: generated::LiveSessionUpsertData) -> Self {
        Self {
            key: data.key,
            title: data.title,
            course: update(data.course),
            scheduled_at: update(data.scheduled_at),
        }
    }
}

impl From<generated::LiveSessionStartData> for IdOrKey {
    fn from(data: generated::LiveSessionStartData) -> Self {
        data.live_session.into()
    }
}

impl From<generated::LiveSessionEndData> for IdOrKey {
    fn from(data: generated::LiveSessionEndData) -> Self {
        data.live_session.into()
    }
}

impl From<generated::RecordingReadyData> for RecordingReady {
    fn from(data: generated::RecordingReadyData) -> Self {
        Self {
            key: data.key,
            live_session: data.live_session.into(),
            title: data.title.take(),
            duration_seconds: data.duration_seconds.into(),
            size_bytes: data.size_bytes,
            content_type: data.content_type,
        }
    }
}

impl From<generated::CertificateIssueData> for CertificateIssue {
    fn from(data: generated::CertificateIssueData) -> Self {
        Self { student: data.student.into(), course: data.course.into(), number: data.number.take() }
    }
}
