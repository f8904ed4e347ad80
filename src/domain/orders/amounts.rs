//! What an order amounts to.

use super::super::Result;
use super::super::faults::Faults;
use super::OrderPay;

/// The greatest amount of one order: far above any price, and low enough that sums over all orders fit.
const MOST: i64 = 1_000_000_000_000;

/// The sums of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Amounts {
    /// `total_amount` of each item, in their order.
    pub(super) items: Vec<i64>,
    /// Of all items.
    pub(super) subtotal: i64,
    /// What was paid.
    pub(super) total: i64,
}

/// Adds an order up, and finds every amount that cannot be.
pub(super) fn add_up(pay: &OrderPay) -> Result<Amounts> {
    let mut faults = Faults::default();
    let mut items = Vec::with_capacity(pay.items.len());
    for (place, item) in pay.items.iter().enumerate() {
        if item.quantity < 1 {
            faults.add(format!("items/{place}/quantity"), "must be at least 1");
        }
        let field = format!("items/{place}/unit_amount");
        faults.not_negative(&field, item.unit_amount);
        let total = item.unit_amount.checked_mul(i64::from(item.quantity)).filter(|total| *total <= MOST);
        if total.is_none() {
            faults.add(field, format!("makes the item cost more than {MOST}"));
        }
        items.push(total.unwrap_or_default());
    }
    let subtotal =
        items.iter().try_fold(0_i64, |sum, item| sum.checked_add(*item)).filter(|sum| *sum <= MOST);
    if subtotal.is_none() {
        faults.add("items", format!("must not cost more than {MOST} together"));
    }
    let subtotal = subtotal.unwrap_or_default();
    if !(0..=subtotal).contains(&pay.discount_amount) {
        faults.add("discount_amount", format!("must be 0 to {subtotal}, the sum of the items"));
    }
    if !(0..=MOST).contains(&pay.tax_amount) {
        faults.add("tax_amount", format!("must be 0 to {MOST}"));
    }
    faults.check()?;
    Ok(Amounts { items, subtotal, total: subtotal - pay.discount_amount + pay.tax_amount })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::ItemPay;
    use super::*;
    use crate::Error;

    fn order(items: &[(i32, i64)], discount_amount: i64, tax_amount: i64) -> OrderPay {
        let item = |(quantity, unit_amount): &(i32, i64)| ItemPay {
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
    fn discount_goes_off_and_tax_comes_on() {
        let amounts = add_up(&order(&[(2, 500), (1, 99)], 100, 190)).unwrap();
        assert_eq!(amounts, Amounts { items: vec![1000, 99], subtotal: 1099, total: 1189 });
    }

    #[test]
    fn every_amount_that_cannot_be_is_named() {
        let Err(Error::Invalid(faults)) = add_up(&order(&[(0, 1), (1, -1), (i32::MAX, i64::MAX)], 2, -1))
        else {
            panic!("taken");
        };
        let fields: Vec<_> = faults.iter().map(|fault| fault.field.as_str()).collect();
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
            if let Ok(amounts) = add_up(&order(&items, discount, tax)) {
                prop_assert!(amounts.total >= 0);
                prop_assert_eq!(amounts.total, amounts.items.iter().sum::<i64>() - discount + tax);
            }
        }
    }
}
