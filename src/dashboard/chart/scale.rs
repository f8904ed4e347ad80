//! The vertical axis: from zero to a round number above the greatest value, in a few round steps.

/// Steps of the axis at most.
const STEPS: f64 = 4.0;

/// The steps of an axis, zero included.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scale {
    step: f64,
    count: u32,
    below: u32,
}

impl Scale {
    /// The scale for values between these two; zero is always on it.
    pub(super) fn of(least: f64, greatest: f64) -> Self {
        let (least, greatest) = (least.min(0.0), greatest.max(0.0));
        let span = if greatest - least > 0.0 { greatest - least } else { 1.0 };
        let step = round(span / STEPS);
        let steps = |length: f64| (length / step - 1e-9).ceil().max(0.0) as u32;
        let (count, below) = (steps(greatest), steps(-least));
        Self { step, count: if count + below == 0 { 1 } else { count }, below }
    }

    /// The values at which a line of the grid stands, from below.
    pub(super) fn lines(&self) -> impl Iterator<Item = f64> + '_ {
        let below = i64::from(self.below);
        (-below..=i64::from(self.count)).map(|line| line as f64 * self.step)
    }

    /// How far up a value is: 0 at the foot of the axis, 1 at its head.
    pub(super) fn height(&self, value: f64) -> f64 {
        let whole = f64::from(self.count + self.below) * self.step;
        (value + f64::from(self.below) * self.step) / whole
    }
}

/// The least of 1, 2, 2.5 and 5 times a power of ten that is not below this; at least 1, since we count whole things.
fn round(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.log10().floor());
    let nice = [1.0, 2.0, 2.5, 5.0, 10.0].map(|factor| factor * power);
    let whole = |step: &f64| *step >= rough - 1e-9 * power && (*step).fract() == 0.0;
    nice.into_iter().find(whole).unwrap_or(1.0).max(1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(least: f64, greatest: f64) -> Vec<f64> {
        Scale::of(least, greatest).lines().collect()
    }

    #[test]
    fn an_axis_has_few_round_steps() {
        assert_eq!(lines(0.0, 10.0), [0.0, 5.0, 10.0]);
        assert_eq!(lines(0.0, 1000.0), [0.0, 250.0, 500.0, 750.0, 1000.0]);
        assert_eq!(lines(0.0, 3.0), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(lines(0.0, 0.0), [0.0, 1.0]);
        assert_eq!(lines(-30.0, 100.0), [-50.0, 0.0, 50.0, 100.0]);
    }

    proptest! {
        #[test]
        fn every_value_is_on_its_axis(least in -1e12_f64..1e12, span in 0.0_f64..1e12) {
            let greatest = least + span;
            let scale = Scale::of(least, greatest);
            for value in [least, greatest, 0.0] {
                prop_assert!((-1e-6..=1.0 + 1e-6).contains(&scale.height(value)), "{value} {scale:?}");
            }
            prop_assert!(scale.lines().count() <= 7, "{scale:?}");
        }
    }
}
