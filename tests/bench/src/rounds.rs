//! Sides that are measured in turn, for a machine is never the same for long.

/// One side: a round of it, and what that round came to.
pub(crate) type Side<'a> = &'a mut dyn FnMut() -> anyhow::Result<f64>;

/// Measures each side once a round, A B C A B C …, and gives the median of each
/// side's rounds. A first round, which warms everything up, does not count.
pub(crate) fn interleaved<const N: usize>(
    rounds: usize,
    mut sides: [Side<'_>; N],
) -> anyhow::Result<[f64; N]> {
    let mut seen = [(); N].map(|()| Vec::with_capacity(rounds));
    for round in 0..=rounds {
        for (side, seen) in sides.iter_mut().zip(&mut seen) {
            let value = side()?;
            if round > 0 {
                seen.push(value);
            }
        }
    }
    Ok(seen.map(median))
}

/// The middle one; of an even number, the mean of the middle two. NaN of none.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => values[count / 2],
        count => f64::midpoint(values[count / 2 - 1], values[count / 2]),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![3.0, 100.0, 1.0]), 3.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 100.0]), 3.0);
        assert_eq!(median(vec![7.0]), 7.0);
        assert!(median(vec![]).is_nan());
    }

    #[test]
    fn sides_take_turns_and_the_first_round_does_not_count() {
        let order = RefCell::new(String::new());
        let side = |name: char, values: [f64; 4]| {
            let (order, mut values) = (&order, values.into_iter());
            move || {
                order.borrow_mut().push(name);
                Ok(values.next().expect("four rounds"))
            }
        };
        let (mut a, mut b) = (side('a', [1000.0, 1.0, 3.0, 2.0]), side('b', [0.0, 5.0, 5.0, 6.0]));
        let medians = interleaved(3, [&mut a, &mut b]).expect("no side fails");
        assert_eq!(medians, [2.0, 5.0]);
        assert_eq!(*order.borrow(), "abababab");
    }
}
