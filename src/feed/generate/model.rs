//! The records of a synthetic workspace, each derived from the spec and the record's number.
//!
//! Students place orders in turn. In round `r`, each student `s` buys the courses `s + 2r` and `s + 2r + 1`, modulo the
//! number of courses. A student therefore buys a course again only after having bought every course.
//!
//! Students, courses and orders are numbered from 0. Times (`_ms`) are milliseconds since the epoch. Amounts are in the
//! smallest unit of the currency.

use super::Spec;

/// Length of the year in which all records are created.
pub(super) const YEAR_MS: i64 = 366 * 86_400_000;
/// Time between the creation of the workspace with its courses and the start of the year.
const LEAD_MS: i64 = 30 * 86_400_000;
const HOUR_MS: i64 = 3_600_000;

pub(super) const MODULES_PER_COURSE: u32 = 3;
pub(super) const LESSONS_PER_COURSE: u32 = 12;
pub(super) const LESSONS_PER_MODULE: u32 = LESSONS_PER_COURSE / MODULES_PER_COURSE;
pub(super) const LESSON_SECONDS: i64 = 600;

const GIVEN_NAMES: [&str; 16] = [
    "Ada", "Bruno", "Chiara", "Dmitri", "Elif", "Farah", "Goran", "Hana", "Ines", "Jonas", "Kofi", "Lena",
    "Mateo", "Noor", "Oskar", "Priya",
];
const FAMILY_NAMES: [&str; 16] = [
    "Almeida",
    "Berger",
    "Castillo",
    "Dahl",
    "Eriksen",
    "Fischer",
    "Gupta",
    "Haddad",
    "Ito",
    "Jansen",
    "Kovacs",
    "Lindqvist",
    "Moreau",
    "Novak",
    "Okafor",
    "Petrov",
];
const SUBJECTS: [&str; 12] = [
    "Watercolor",
    "Bookkeeping",
    "Bread Baking",
    "Photography",
    "Public Speaking",
    "Statistics",
    "Gardening",
    "Sound Design",
    "Typography",
    "Woodworking",
    "Storytelling",
    "Navigation",
];
const TAGS: [&str; 4] = ["newsletter", "partner", "beta", "alumni"];

/// The purpose of a random number, so that numbers for different purposes of one record are independent.
#[derive(Debug, Clone, Copy)]
pub(super) enum RandomPurpose {
    Price = 1,
    Name,
    Tags,
    Discount,
    Currency,
    Refund,
    Progress,
    Certificate,
    Id,
}

/// An order.
#[derive(Debug, Clone)]
pub(super) struct SyntheticOrder {
    pub(super) number: u32,
    pub(super) student: u32,
    pub(super) currency: &'static str,
    pub(super) items: Vec<SyntheticItem>,
    pub(super) discount: i64,
    pub(super) tax: i64,
    pub(super) paid_ms: i64,
    pub(super) refund: Option<SyntheticRefund>,
}

/// An item of an order: one course.
#[derive(Debug, Clone)]
pub(super) struct SyntheticItem {
    pub(super) course: u32,
    pub(super) amount: i64,
    /// The first order in which this student bought this course, usually this order.
    pub(super) first_order: u32,
    /// The index of the course in that order, 0 or 1.
    pub(super) first_index: u32,
    /// The completion times of the completed lessons, in the order of the lessons. Empty for most items.
    pub(super) lesson_completions_ms: Vec<i64>,
    /// When the certificate was issued, if one was.
    pub(super) certificate_issued_ms: Option<i64>,
}

/// A refund of an order.
#[derive(Debug, Clone, Copy)]
pub(super) struct SyntheticRefund {
    pub(super) amount: i64,
    pub(super) is_full: bool,
    pub(super) at_ms: i64,
}

impl SyntheticOrder {
    pub(super) fn subtotal(&self) -> i64 {
        self.items.iter().map(|item| item.amount).sum()
    }

    pub(super) fn total(&self) -> i64 {
        self.subtotal() - self.discount + self.tax
    }

    /// Returns whether this is the student's first order of the item's course, which creates the enrollment.
    pub(super) fn creates_enrollment(&self, item: &SyntheticItem) -> bool {
        item.first_order == self.number
    }
}

/// Returns a pseudorandom number for a purpose and a record, derived from the seed with splitmix64.
pub(super) fn random_number(spec: &Spec, purpose: RandomPurpose, number: u64) -> u64 {
    let mut x = spec.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ ((purpose as u64) << 56);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Returns the item of the list whose index is this number modulo the length of the list.
fn pick<T: Copy>(list: &[T], number: u64) -> T {
    list[(number % list.len() as u64) as usize]
}

/// Returns the start of the year.
pub(super) fn year_start_ms(spec: &Spec) -> i64 {
    spec.until.as_millisecond() - YEAR_MS
}

/// Returns the creation time of the workspace and its courses.
pub(super) fn workspace_created_ms(spec: &Spec) -> i64 {
    year_start_ms(spec) - LEAD_MS
}

/// Divides the year into `count` equal steps and returns the start of step `number`, counted from 0.
fn time_at_step(spec: &Spec, number: u32, count: u32) -> i64 {
    let step = i128::from(YEAR_MS) * i128::from(number) / i128::from(count.max(1));
    year_start_ms(spec) + i64::try_from(step).unwrap_or_default()
}

pub(super) fn course_title(course: u32) -> String {
    format!("{} {}", pick(&SUBJECTS, u64::from(course)), 1 + course / SUBJECTS.len() as u32)
}

pub(super) fn course_price(spec: &Spec, course: u32) -> i64 {
    1900 + 1000 * (random_number(spec, RandomPurpose::Price, u64::from(course)) % 20) as i64
}

pub(super) fn student_created_ms(spec: &Spec, student: u32) -> i64 {
    // Never later than the student's first order.
    time_at_step(spec, student, spec.students.max(spec.orders))
}

pub(super) fn student_name(spec: &Spec, student: u32) -> String {
    let number = random_number(spec, RandomPurpose::Name, u64::from(student));
    format!("{} {}", pick(&GIVEN_NAMES, number), pick(&FAMILY_NAMES, number >> 8))
}

pub(super) fn student_tags(spec: &Spec, student: u32) -> Vec<&'static str> {
    let number = random_number(spec, RandomPurpose::Tags, u64::from(student));
    TAGS.iter().enumerate().filter(|(index, _)| number >> (index * 3) & 7 == 0).map(|(_, tag)| *tag).collect()
}

pub(super) fn paid_ms(spec: &Spec, order: u32) -> i64 {
    time_at_step(spec, order, spec.orders)
}

pub(super) fn order(spec: &Spec, number: u32) -> SyntheticOrder {
    let (student, round) = (number % spec.students, number / spec.students);
    let paid_ms = paid_ms(spec, number);
    let mut order = SyntheticOrder {
        number,
        student,
        currency: if random_number(spec, RandomPurpose::Currency, number.into()).is_multiple_of(3) {
            "USD"
        } else {
            "EUR"
        },
        items: Vec::with_capacity(2),
        discount: 0,
        tax: 0,
        paid_ms,
        refund: None,
    };
    for index in 0..spec.courses.min(2) {
        let course =
            ((u64::from(student) + 2 * u64::from(round) + u64::from(index)) % u64::from(spec.courses)) as u32;
        // The number of courses that this student bought before this one for the first time. Each order contains two.
        let earlier_courses = (2 * round + index) % spec.courses;
        order.items.push(SyntheticItem {
            course,
            amount: course_price(spec, course),
            first_order: earlier_courses / 2 * spec.students + student,
            first_index: earlier_courses % 2,
            lesson_completions_ms: Vec::new(),
            certificate_issued_ms: None,
        });
    }
    let subtotal = order.subtotal();
    if random_number(spec, RandomPurpose::Discount, number.into()).is_multiple_of(8) {
        order.discount = subtotal / 10;
    }
    order.tax = (subtotal - order.discount) * 19 / 100;
    order.refund = refund(spec, &order);
    for index in 0..order.items.len() {
        add_progress(spec, &mut order, index);
    }
    order
}

/// Returns the refund of an order, if it has one: about one order in 21 does.
fn refund(spec: &Spec, order: &SyntheticOrder) -> Option<SyntheticRefund> {
    let number = random_number(spec, RandomPurpose::Refund, order.number.into());
    let at_ms = before_end(spec, order.paid_ms + HOUR_MS * (24 + (number >> 16) as i64 % 240));
    // A full refund revokes the enrollment, and buying the course again would activate it again. Orders are fully
    // refunded only if no student buys a course twice.
    let buys_once = u64::from(spec.orders.div_ceil(spec.students)) * 2 <= u64::from(spec.courses);
    match number % 64 {
        0 if buys_once => Some(SyntheticRefund { amount: order.total(), is_full: true, at_ms }),
        0..=2 => Some(SyntheticRefund { amount: order.total() / 2, is_full: false, at_ms }),
        _ => None,
    }
}

/// Adds completed lessons to one enrollment in ten, and a certificate to most completed enrollments. Does nothing for
/// an item that creates no enrollment or whose order is fully refunded.
fn add_progress(spec: &Spec, order: &mut SyntheticOrder, index: usize) {
    let item = &order.items[index];
    let number = random_number(spec, RandomPurpose::Progress, u64::from(order.number) * 2 + index as u64);
    let is_fully_refunded = order.refund.is_some_and(|refund| refund.is_full);
    if !number.is_multiple_of(10) || !order.creates_enrollment(item) || is_fully_refunded {
        return;
    }
    // The range exceeds the number of lessons, so that about 40 % of these enrollments are completed.
    let lessons = 1 + (number >> 8) % u64::from(LESSONS_PER_COURSE + 6);
    let lessons = lessons.min(u64::from(LESSONS_PER_COURSE)) as i64;
    let lesson_completions_ms: Vec<i64> =
        (1..=lessons).map(|lesson| before_end(spec, order.paid_ms + lesson * 20 * HOUR_MS)).collect();
    let has_certificate = lesson_completions_ms.len() == LESSONS_PER_COURSE as usize
        && !random_number(spec, RandomPurpose::Certificate, u64::from(order.number)).is_multiple_of(4);
    let certificate_issued_ms = lesson_completions_ms.last().filter(|_| has_certificate).copied();
    let item = &mut order.items[index];
    (item.lesson_completions_ms, item.certificate_issued_ms) = (lesson_completions_ms, certificate_issued_ms);
}

/// Returns the time, or the last millisecond of the year if the time is later.
fn before_end(spec: &Spec, at_ms: i64) -> i64 {
    at_ms.min(spec.until.as_millisecond() - 1)
}
