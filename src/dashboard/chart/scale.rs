//! The vertical axis: a few round steps from at or below the minimum of the values to at or above the maximum, with a line at
//! zero.

/// Maximum number of steps of an axis without negative values.
const MAX_STEPS: f64 = 4.0;

/// The steps of an axis that includes zero.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AxisScale {
    step: f64,
    steps_above_zero: u32,
    steps_below_zero: u32,
}

impl AxisScale {
    /// Creates the scale for values between `minimum` and `maximum`. It always includes zero.
    pub(super) fn new(minimum: f64, maximum: f64) -> Self {
        let (minimum, maximum) = (minimum.min(0.0), maximum.max(0.0));
        let span = if maximum - minimum > 0.0 { maximum - minimum } else { 1.0 };
        let step = round_step(span / MAX_STEPS);
        let steps = |length: f64| (length / step - 1e-9).ceil().max(0.0) as u32;
        let (steps_above, steps_below_zero) = (steps(maximum), steps(-minimum));
        Self {
            step,
            steps_above_zero: if steps_above + steps_below_zero == 0 { 1 } else { steps_above },
            steps_below_zero,
        }
    }

    /// Returns the values of the grid lines, from the bottom.
    pub(super) fn lines(&self) -> impl Iterator<Item = f64> + '_ {
        let below_zero = i64::from(self.steps_below_zero);
        (-below_zero..=i64::from(self.steps_above_zero)).map(|line| line as f64 * self.step)
    }

    /// Returns the relative height of a value: 0 at the bottom of the axis, 1 at the top.
    pub(super) fn height(&self, value: f64) -> f64 {
        let total = f64::from(self.steps_above_zero + self.steps_below_zero) * self.step;
        (value + f64::from(self.steps_below_zero) * self.step) / total
    }
}

/// Rounds up to 1, 2, 2.5 or 5 times a power of ten. Returns at least 1 and only integers, since charts show counts and minor
/// units.
fn round_step(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.log10().floor());
    let candidates = [1.0, 2.0, 2.5, 5.0, 10.0].map(|factor| factor * power);
    let is_valid_step = |step: &f64| *step >= rough - 1e-9 * power && (*step).fract() == 0.0;
    candidates.into_iter().find(is_valid_step).unwrap_or(1.0).max(1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(minimum: f64, maximum: f64) -> Vec<f64> {
        AxisScale::new(minimum, maximum).lines().collect()
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
        fn every_value_is_within_the_axis(minimum in -1e12_f64..1e12, span in 0.0_f64..1e12) {
            let maximum = minimum + span;
            let scale = AxisScale::new(minimum, maximum);
            for value in [minimum, maximum, 0.0] {
                prop_assert!((-1e-6..=1.0 + 1e-6).contains(&scale.height(value)), "{value} {scale:?}");
            }
            prop_assert!(scale.lines().count() <= 7, "{scale:?}");
        }
    }
}
