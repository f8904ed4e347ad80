//! What a synthetic workspace holds: every record follows from the spec and the record's number.
//!
//! Student `s` buys in rounds: in round `r` the courses `s + 2r` and `s + 2r + 1`, so a pair of student and course
//! comes up again only once the student has bought every course.

use super::Spec;

/// The year in which everything happens.
pub(super) const SPAN_MS: i64 = 366 * 86_400_000;
/// How long before the year the workspace and its courses are made.
const LEAD_MS: i64 = 30 * 86_400_000;
const HOUR_MS: i64 = 3_600_000;

pub(super) const MODULES: u32 = 3;
pub(super) const LESSONS: u32 = 12;
pub(super) const LESSONS_OF_MODULE: u32 = LESSONS / MODULES;
pub(super) const LESSON_SECONDS: i64 = 600;

const GIVEN: [&str; 16] = [
    "Ada", "Bruno", "Chiara", "Dmitri", "Elif", "Farah", "Goran", "Hana", "Ines", "Jonas", "Kofi", "Lena",
    "Mateo", "Noor", "Oskar", "Priya",
];
const FAMILY: [&str; 16] = [
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
    "Watercolour",
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

/// What a number is drawn for, so that two draws for one record are independent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Draw {
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

/// A purchase.
#[derive(Debug, Clone)]
pub(super) struct Order {
    pub(super) number: u32,
    pub(super) student: u32,
    pub(super) currency: &'static str,
    pub(super) items: Vec<Item>,
    pub(super) discount: i64,
    pub(super) tax: i64,
    pub(super) paid_ms: i64,
    pub(super) refund: Option<Refund>,
}

/// A course bought.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) course: u32,
    pub(super) amount: i64,
    /// The order with which this student first bought this course: this one, for most.
    pub(super) first_order: u32,
    /// The place of the course in that order, 0 or 1.
    pub(super) first_place: u32,
    /// Lessons done, and when each; none when it was bought before.
    pub(super) lessons_ms: Vec<i64>,
    pub(super) certificate_ms: Option<i64>,
}

/// Money given back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Refund {
    pub(super) amount: i64,
    pub(super) whole: bool,
    pub(super) at_ms: i64,
}

impl Order {
    pub(super) fn subtotal(&self) -> i64 {
        self.items.iter().map(|item| item.amount).sum()
    }

    pub(super) fn total(&self) -> i64 {
        self.subtotal() - self.discount + self.tax
    }

    /// Whether this order is the first of its student for the item's course, and so makes the enrolment.
    pub(super) fn enrols(&self, item: &Item) -> bool {
        item.first_order == self.number
    }
}

/// A number that follows from the seed, the purpose and the record: splitmix64.
pub(super) fn draw(spec: &Spec, draw: Draw, number: u64) -> u64 {
    let mut x = spec.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ ((draw as u64) << 56);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn pick<T: Copy>(list: &[T], number: u64) -> T {
    list[(number % list.len() as u64) as usize]
}

/// When the year begins.
pub(super) fn begin_ms(spec: &Spec) -> i64 {
    spec.until.as_millisecond() - SPAN_MS
}

/// When the workspace and its courses are made.
pub(super) fn founded_ms(spec: &Spec) -> i64 {
    begin_ms(spec) - LEAD_MS
}

/// The moment that lies `number` of `count` equal steps into the year.
fn along(spec: &Spec, number: u32, count: u32) -> i64 {
    let step = i128::from(SPAN_MS) * i128::from(number) / i128::from(count.max(1));
    begin_ms(spec) + i64::try_from(step).unwrap_or_default()
}

pub(super) fn course_title(course: u32) -> String {
    format!("{} {}", pick(&SUBJECTS, u64::from(course)), 1 + course / SUBJECTS.len() as u32)
}

pub(super) fn course_price(spec: &Spec, course: u32) -> i64 {
    1900 + 1000 * (draw(spec, Draw::Price, u64::from(course)) % 20) as i64
}

pub(super) fn student_created_ms(spec: &Spec, student: u32) -> i64 {
    // Never after the student's first order.
    along(spec, student, spec.students.max(spec.orders))
}

pub(super) fn student_name(spec: &Spec, student: u32) -> String {
    let number = draw(spec, Draw::Name, u64::from(student));
    format!("{} {}", pick(&GIVEN, number), pick(&FAMILY, number >> 8))
}

pub(super) fn student_tags(spec: &Spec, student: u32) -> Vec<&'static str> {
    let number = draw(spec, Draw::Tags, u64::from(student));
    TAGS.iter().enumerate().filter(|(place, _)| number >> (place * 3) & 7 == 0).map(|(_, tag)| *tag).collect()
}

pub(super) fn paid_ms(spec: &Spec, order: u32) -> i64 {
    along(spec, order, spec.orders)
}

pub(super) fn order(spec: &Spec, number: u32) -> Order {
    let (student, round) = (number % spec.students, number / spec.students);
    let paid_ms = paid_ms(spec, number);
    let mut order = Order {
        number,
        student,
        currency: if draw(spec, Draw::Currency, number.into()).is_multiple_of(3) { "USD" } else { "EUR" },
        items: Vec::with_capacity(2),
        discount: 0,
        tax: 0,
        paid_ms,
        refund: None,
    };
    for place in 0..spec.courses.min(2) {
        let course =
            ((u64::from(student) + 2 * u64::from(round) + u64::from(place)) % u64::from(spec.courses)) as u32;
        let first = (2 * round + place) % spec.courses;
        order.items.push(Item {
            course,
            amount: course_price(spec, course),
            first_order: first / 2 * spec.students + student,
            first_place: first % 2,
            lessons_ms: Vec::new(),
            certificate_ms: None,
        });
    }
    let subtotal = order.subtotal();
    if draw(spec, Draw::Discount, number.into()).is_multiple_of(8) {
        order.discount = subtotal / 10;
    }
    order.tax = (subtotal - order.discount) * 19 / 100;
    order.refund = refund(spec, &order);
    for place in 0..order.items.len() {
        progress(spec, &mut order, place);
    }
    order
}

fn refund(spec: &Spec, order: &Order) -> Option<Refund> {
    let number = draw(spec, Draw::Refund, order.number.into());
    let at_ms = before_end(spec, order.paid_ms + HOUR_MS * (24 + (number >> 16) as i64 % 240));
    // A whole refund ends enrolments, and buying the course again would revive them: only where none does.
    let buys_once = u64::from(spec.orders.div_ceil(spec.students)) * 2 <= u64::from(spec.courses);
    match number % 64 {
        0 if buys_once => Some(Refund { amount: order.total(), whole: true, at_ms }),
        0..=2 => Some(Refund { amount: order.total() / 2, whole: false, at_ms }),
        _ => None,
    }
}

/// One enrolment in ten has lessons done, and most of those that are completed a certificate.
fn progress(spec: &Spec, order: &mut Order, place: usize) {
    let item = &order.items[place];
    let number = draw(spec, Draw::Progress, u64::from(order.number) * 2 + place as u64);
    let whole_refund = order.refund.is_some_and(|refund| refund.whole);
    if !number.is_multiple_of(10) || !order.enrols(item) || whole_refund {
        return;
    }
    let done = 1 + (number >> 8) % u64::from(LESSONS + 6);
    let lessons = done.min(u64::from(LESSONS)) as i64;
    let lessons_ms: Vec<i64> =
        (1..=lessons).map(|lesson| before_end(spec, order.paid_ms + lesson * 20 * HOUR_MS)).collect();
    let certified = lessons_ms.len() == LESSONS as usize
        && !draw(spec, Draw::Certificate, u64::from(order.number)).is_multiple_of(4);
    let certificate_ms = lessons_ms.last().filter(|_| certified).copied();
    let item = &mut order.items[place];
    (item.lessons_ms, item.certificate_ms) = (lessons_ms, certificate_ms);
}

fn before_end(spec: &Spec, at_ms: i64) -> i64 {
    at_ms.min(spec.until.as_millisecond() - 1)
}
