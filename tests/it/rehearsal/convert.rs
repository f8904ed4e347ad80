//! Conversions between the types of the domain and those of v2.

use domain::courses::{Course, CourseDetail, CourseStatus, Lesson, LessonType, Module, Money};
use domain::enrollments::{Enrollment, EnrollmentProgress, EnrollmentSource, EnrollmentStatus};
use domain::orders::{
    Customer, Entitlement, EntitlementStatus, Order, OrderItem, OrderStatus, Receipt, Refund,
};
use domain::page::{Sort, SortKey};
use domain::students::{NewStudent, Student, StudentProgress};

use super::generated::schemas::{self, MetadataEntry};

/// Implements conversions between enums with the same values in the same order.
macro_rules! enum_maps {
    ($($from:path => $to:path;)+) => {
        $(impl From<$from> for $to {
            fn from(value: $from) -> Self {
                const { assert!(<$from>::ALL.len() == <$to>::ALL.len()) };
                Self::ALL[value as usize]
            }
        })+
    };
}

enum_maps! {
    LessonType => schemas::LessonType;
    EnrollmentStatus => schemas::EnrollmentStatus;
    schemas::EnrollmentStatus => EnrollmentStatus;
    EnrollmentSource => schemas::EnrollmentSource;
    OrderStatus => schemas::OrderStatus;
    schemas::OrderStatus => OrderStatus;
    EntitlementStatus => schemas::EntitlementStatus;
}

impl From<schemas::ListSort> for Sort {
    fn from(sort: schemas::ListSort) -> Self {
        match sort {
            schemas::ListSort::CreatedAtDescending => Self { key: SortKey::CreatedAt, descending: true },
            schemas::ListSort::UpdatedAt => Self { key: SortKey::UpdatedAt, descending: false },
        }
    }
}

impl From<CourseStatus> for schemas::CourseStatus {
    fn from(status: CourseStatus) -> Self {
        match status {
            CourseStatus::Published => Self::Published,
            CourseStatus::Archived => Self::Archived,
            CourseStatus::Draft => unreachable!("the API never returns a draft"),
        }
    }
}

impl From<Money> for schemas::Price {
    fn from(money: Money) -> Self {
        Self { amount: money.amount, currency: money.currency }
    }
}

impl From<Course> for schemas::Course {
    fn from(course: Course) -> Self {
        Self {
            id: course.id.to_string(),
            slug: course.slug,
            title: course.title,
            description: course.description,
            language: course.language,
            status: course.status.into(),
            image_url: course.image_url,
            url: course.url,
            price: course.price.map(Into::into),
            module_count: course.module_count,
            lesson_count: course.lesson_count,
            duration_seconds: course.duration_seconds,
            published_at: course.published_at.map(Into::into),
            created_at: course.created_at.into(),
            updated_at: course.updated_at.into(),
        }
    }
}

impl From<CourseDetail> for schemas::CourseDetail {
    fn from(detail: CourseDetail) -> Self {
        let course: schemas::Course = detail.course.into();
        Self {
            id: course.id,
            slug: course.slug,
            title: course.title,
            description: course.description,
            language: course.language,
            status: course.status,
            image_url: course.image_url,
            url: course.url,
            price: course.price,
            module_count: course.module_count,
            lesson_count: course.lesson_count,
            duration_seconds: course.duration_seconds,
            published_at: course.published_at,
            created_at: course.created_at,
            updated_at: course.updated_at,
            modules: detail.modules.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<Module> for schemas::Module {
    fn from(module: Module) -> Self {
        Self {
            id: module.id.to_string(),
            title: module.title,
            position: module.position,
            lessons: module.lessons.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<Lesson> for schemas::Lesson {
    fn from(lesson: Lesson) -> Self {
        Self {
            id: lesson.id.to_string(),
            title: lesson.title,
            position: lesson.position,
            r#type: lesson.lesson_type.into(),
            duration_seconds: lesson.duration_seconds,
            free_preview: lesson.free_preview,
        }
    }
}

impl From<StudentProgress> for schemas::StudentProgress {
    fn from(progress: StudentProgress) -> Self {
        Self {
            enrollments_total: progress.enrollments_total,
            enrollments_active: progress.enrollments_active,
            enrollments_completed: progress.enrollments_completed,
            average_percent_complete: progress.average_percent_complete,
            last_activity_at: progress.last_activity_at.map(Into::into),
        }
    }
}

impl From<Student> for schemas::Student {
    fn from(student: Student) -> Self {
        let summary = student.summary;
        let metadata = summary.metadata.into_iter();
        Self {
            id: summary.id.to_string(),
            email: summary.email,
            name: summary.name,
            external_id: summary.external_id,
            tags: summary.tags,
            metadata: metadata.map(|(key, value)| MetadataEntry { key, value }).collect(),
            progress: summary.progress.into(),
            created_at: summary.created_at.into(),
            updated_at: summary.updated_at.into(),
            enrollments: student.enrollments.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<schemas::NewStudent> for NewStudent {
    fn from(student: schemas::NewStudent) -> Self {
        let metadata = student.metadata.unwrap_or_default().into_iter();
        Self {
            email: student.email,
            name: Some(student.name),
            external_id: student.external_id,
            tags: student.tags.unwrap_or_default(),
            metadata: metadata.map(|entry| (entry.key, entry.value)).collect(),
        }
    }
}

impl From<EnrollmentProgress> for schemas::EnrollmentProgress {
    fn from(progress: EnrollmentProgress) -> Self {
        Self {
            percent_complete: progress.percent_complete,
            completed_lessons: progress.completed_lessons,
            total_lessons: progress.total_lessons,
            last_activity_at: progress.last_activity_at.map(Into::into),
        }
    }
}

impl From<Enrollment> for schemas::Enrollment {
    fn from(enrollment: Enrollment) -> Self {
        Self {
            id: enrollment.id.to_string(),
            student_id: enrollment.student_id.to_string(),
            course_id: enrollment.course_id.to_string(),
            status: enrollment.status.into(),
            source: enrollment.source.into(),
            order_id: enrollment.order_id.map(|id| id.to_string()),
            progress: enrollment.progress.into(),
            enrolled_at: enrollment.enrolled_at.into(),
            expires_at: enrollment.expires_at.map(Into::into),
            completed_at: enrollment.completed_at.map(Into::into),
            revoked_at: enrollment.revoked_at.map(Into::into),
            created_at: enrollment.created_at.into(),
            updated_at: enrollment.updated_at.into(),
        }
    }
}

impl From<Order> for schemas::Order {
    fn from(order: Order) -> Self {
        Self {
            id: order.id.to_string(),
            number: order.number,
            student_id: order.student_id.map(|id| id.to_string()),
            customer: order.customer.into(),
            status: order.status.into(),
            amounts: schemas::OrderAmounts {
                currency: order.currency,
                subtotal: order.subtotal_amount,
                discount: order.discount_amount,
                tax: order.tax_amount,
                total: order.total_amount,
                refunded: order.refunded_amount,
            },
            items: order.items.into_iter().map(Into::into).collect(),
            receipt: Some(order.receipt.into()),
            refunds: order.refunds.into_iter().map(Into::into).collect(),
            entitlements: order.entitlements.into_iter().map(Into::into).collect(),
            paid_at: order.paid_at.into(),
            created_at: order.created_at.into(),
            updated_at: order.updated_at.into(),
        }
    }
}

impl From<Customer> for schemas::OrderCustomer {
    fn from(customer: Customer) -> Self {
        Self { email: customer.email, name: customer.name }
    }
}

impl From<OrderItem> for schemas::OrderItem {
    fn from(item: OrderItem) -> Self {
        Self {
            id: item.id.to_string(),
            course_id: item.course_id.to_string(),
            title: item.title,
            quantity: item.quantity,
            unit_amount: item.unit_amount,
            total_amount: item.total_amount,
        }
    }
}

impl From<Receipt> for schemas::Receipt {
    fn from(receipt: Receipt) -> Self {
        Self { number: receipt.number, url: receipt.url, issued_at: receipt.issued_at.into() }
    }
}

impl From<Refund> for schemas::Refund {
    fn from(refund: Refund) -> Self {
        Self {
            id: refund.id.to_string(),
            amount: refund.amount,
            reason: refund.reason,
            created_at: refund.created_at.into(),
        }
    }
}

impl From<Entitlement> for schemas::Entitlement {
    fn from(entitlement: Entitlement) -> Self {
        Self {
            id: entitlement.id.to_string(),
            course_id: entitlement.course_id.to_string(),
            enrollment_id: entitlement.enrollment_id.map(|id| id.to_string()),
            status: entitlement.status.into(),
            granted_at: entitlement.granted_at.into(),
            expires_at: entitlement.expires_at.map(Into::into),
            revoked_at: entitlement.revoked_at.map(Into::into),
        }
    }
}
