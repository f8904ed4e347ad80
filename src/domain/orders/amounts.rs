//! Validation and totals of the amounts of an order.

use super::super::Result;
use super::super::field_errors::FieldErrors;
use super::OrderPay;

/// Maximum of each item total, of the subtotal and of the tax of one order, in minor units: far above any price, and so
/// low that sums over all orders do not overflow.
const MAX_AMOUNT: i64 = 1_000_000_000_000;

/// The totals of an order, in minor units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Amounts {
    /// The total of each item, in the order of the items.
    pub(super) items: Vec<i64>,
    /// The sum of all items.
    pub(super) subtotal: i64,
    /// The amount paid: the subtotal minus the discount plus the tax.
    pub(super) total: i64,
}

/// Calculates the totals of an order. Returns one error that lists every invalid amount.
pub(super) fn calculate(pay: &OrderPay) -> Result<Amounts> {
    let mut errors = FieldErrors::default();
    let mut items = Vec::with_capacity(pay.items.len());
    for (index, item) in pay.items.iter().enumerate() {
        if item.quantity < 1 {
            errors.add(format!("items/{index}/quantity"), "must be at least 1");
        }
        let field = format!("items/{index}/unit_amount");
        errors.check_not_negative(&field, item.unit_amount);
        let total =
            item.unit_amount.checked_mul(i64::from(item.quantity)).filter(|total| *total <= MAX_AMOUNT);
        if total.is_none() {
            errors.add(field, format!("makes the item total exceed {MAX_AMOUNT}"));
        }
        items.push(total.unwrap_or_default());
    }
    let subtotal =
        items.iter().try_fold(0_i64, |sum, item| sum.checked_add(*item)).filter(|sum| *sum <= MAX_AMOUNT);
    if subtotal.is_none() {
        errors.add("items", format!("must not exceed {MAX_AMOUNT} in total"));
    }
    let subtotal = subtotal.unwrap_or_default();
    if !(0..=subtotal).contains(&pay.discount_amount) {
        errors.add("discount_amount", format!("must be from 0 to {subtotal}, the sum of the items"));
    }
    if !(0..=MAX_AMOUNT).contains(&pay.tax_amount) {
        errors.add("tax_amount", format!("must be from 0 to {MAX_AMOUNT}"));
    }
    errors.into_result()?;
    Ok(Amounts { items, subtotal, total: subtotal - pay.discount_amount + pay.tax_amount })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::OrderPayItem;
    use super::*;
    use crate::Error;

    fn order(items: &[(i32, i64)], discount_amount: i64, tax_amount: i64) -> OrderPay {
        let item = |(quantity, unit_amount): &(i32, i64)| OrderPayItem {
            course: "c".into(),
            title: None,
            quantity: *quantity,
            unit_amount: *unit_amount,
        };
        OrderPay {
            key: "o".into(),
            number: "1".into(),
            student: "s".into(),
            currency: "EUR".into(),
            items: items.iter().map(item).collect(),
            discount_amount,
            tax_amount,
            receipt: None,
        }
    }

    #[test]
    fn the_discount_is_subtracted_and_the_tax_added() {
        let amounts = calculate(&order(&[(2, 500), (1, 99)], 100, 190)).unwrap();
        assert_eq!(amounts, Amounts { items: vec![1000, 99], subtotal: 1099, total: 1189 });
    }

    #[test]
    fn every_invalid_amount_is_reported() {
        let Err(Error::Invalid(errors)) = calculate(&order(&[(0, 1), (1, -1), (i32::MAX, i64::MAX)], 2, -1))
        else {
            panic!("the amounts were accepted");
        };
        let fields: Vec<_> = errors.iter().map(|error| error.field.as_str()).collect();
        let expected = [
            "items/0/quantity",
            "items/1/unit_amount",
            "items/2/unit_amount",
            "discount_amount",
            "tax_amount",
        ];
        assert_eq!(fields, expected);
    }

    proptest! {
        #[test]
        fn sums_never_overflow(
            items in proptest::collection::vec((any::<i32>(), any::<i64>()), 0..5),
            discount in any::<i64>(),
            tax in any::<i64>(),
        ) {
            if let Ok(amounts) = calculate(&order(&items, discount, tax)) {
                prop_assert!(amounts.total >= 0);
                prop_assert_eq!(amounts.total, amounts.items.iter().sum::<i64>() - discount + tax);
            }
        }
    }
}
