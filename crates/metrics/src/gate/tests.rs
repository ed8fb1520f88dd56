//! Decisions and numbers of runs, checked against sums of binomial probabilities.

use proptest::prelude::*;

use super::*;

const A: Alpha = Alpha::FIVE_PERCENT;
const LEVEL: f64 = 0.05;

fn evidence(laundered: u64, exposed: u64, missing: u64) -> Evidence {
    Evidence::new(laundered, exposed, missing).expect("valid")
}

fn sampled(laundered: u64, exposed: u64, missing: u64, max_rate: f64) -> Assessment {
    decide(evidence(laundered, exposed, missing), max_rate, Reader::Sampled, A).expect("decided")
}

fn certain(laundered: u64, exposed: u64, missing: u64, max_rate: f64) -> Assessment {
    decide(evidence(laundered, exposed, missing), max_rate, Reader::Deterministic, A).expect("decided")
}

/// P(X <= k) for X of Binomial(n, p), term by term: by logarithms, since the first terms are too small for a double.
fn at_most(k: u64, n: u64, p: f64) -> f64 {
    let mut term = n as f64 * (1.0 - p).ln();
    let mut sum = term.exp();
    for i in 0..k {
        term += ((n - i) as f64 / (i + 1) as f64 * p / (1.0 - p)).ln();
        sum += term.exp();
    }
    sum
}

/// P(X >= k).
fn at_least(k: u64, n: u64, p: f64) -> f64 {
    at_most(n - k, n, 1.0 - p)
}

/// The decision from the two tails: the bounds are where these cross the level.
fn by_tails(x: u64, n: u64, m: u64, p: f64) -> Decision {
    if n > 0 && at_most(x + m, n + m, p) <= LEVEL && x < n {
        Decision::Pass
    } else if n > 0 && x > 0 && at_least(x, n + m, p) < LEVEL {
        Decision::Fail
    } else {
        Decision::Inconclusive
    }
}

/// The smallest number of runs from n up, by asking for every one.
fn by_counting(x: u64, n: u64, p: f64, up_to: u64) -> Option<u64> {
    (n..=up_to).find(|&runs| {
        if (x as f64) < p * n as f64 {
            let laundered = (runs * x).div_ceil(n);
            laundered < runs && at_most(laundered, runs, p) <= LEVEL
        } else {
            let laundered = runs * x / n;
            laundered > 0 && at_least(laundered, runs, p) < LEVEL
        }
    })
}

#[test]
fn twenty_nine_clean_runs_certify_ten_percent_and_twenty_eight_do_not() {
    let enough = sampled(0, 29, 0, 0.1);
    let upper = 1.0 - LEVEL.powf(1.0 / 29.0);
    assert!((upper - 0.0981).abs() < 5e-5);
    assert!((enough.bounds.expect("bounds").high - upper).abs() < 1e-9);
    assert_eq!((enough.decision, enough.wanted), (Decision::Pass, Wanted::Nothing));
    let short = sampled(0, 28, 0, 0.1);
    assert_eq!((short.decision, short.wanted), (Decision::Inconclusive, Wanted::Runs(29)));
    for (percent, runs) in [(15, 19), (10, 29), (5, 59), (3, 99)] {
        // Science notes, section 4.2.
        let limit = f64::from(percent) / 100.0;
        assert_eq!(sampled(0, 1, 0, limit).wanted, Wanted::Runs(runs), "{percent}%");
        assert_eq!(sampled(0, 0, 7, limit).wanted, Wanted::CleanRuns(runs), "{percent}%");
        assert_eq!(sampled(0, runs, 0, limit).decision, Decision::Pass);
        assert_eq!(sampled(0, runs - 1, 0, limit).decision, Decision::Inconclusive);
    }
}

#[test]
fn the_published_arms_break_ten_percent() {
    // P(X >= 14) of Binomial(72, 0.1) is 0.0115.
    assert!((at_least(14, 72, 0.1) - 0.0115).abs() < 5e-4, "{}", at_least(14, 72, 0.1));
    for (x, n, m) in [(52, 72, 0), (43, 71, 1), (14, 72, 0)] {
        assert_eq!(sampled(x, n, m, 0.1).decision, Decision::Fail, "{x}/{n}");
    }
    // Between the bounds of 14/72, 12.0% and 28.7%, nothing is shown.
    let typed = sampled(14, 72, 0, 0.2);
    assert_eq!(typed.decision, Decision::Inconclusive);
    let bounds = typed.bounds.expect("bounds");
    assert!((at_least(14, 72, bounds.low) - LEVEL).abs() < 1e-9);
    assert!((at_most(14, 72, bounds.high) - LEVEL).abs() < 1e-9);
    assert_eq!(sampled(14, 72, 0, 0.3).decision, Decision::Pass);
}

#[test]
fn a_missing_run_counts_against_the_arm_both_ways() {
    assert_eq!(sampled(0, 29, 0, 0.1).decision, Decision::Pass);
    let one = sampled(0, 29, 1, 0.1);
    assert_eq!((one.decision, one.wanted), (Decision::Inconclusive, Wanted::Runs(29)));
    assert!((at_most(1, 30, one.bounds.expect("bounds").high) - LEVEL).abs() < 1e-9);
    assert_eq!(sampled(14, 72, 0, 0.1).decision, Decision::Fail);
    assert_eq!(sampled(14, 72, 40, 0.1).decision, Decision::Inconclusive);
}

#[test]
fn errors_alone_never_decide() {
    for max_rate in [0.0, 0.1, 0.999, 1.0] {
        for missing in [0, 1, 216] {
            for reader in [Reader::Sampled, Reader::Deterministic] {
                let decided = decide(evidence(0, 0, missing), max_rate, reader, A).expect("decided");
                assert_eq!(decided.decision, Decision::Inconclusive, "{max_rate} {missing}");
                assert_eq!(decided.bounds, (missing > 0).then_some(Interval { low: 0.0, high: 1.0 }));
            }
        }
    }
}

#[test]
fn the_numbers_that_would_decide_are_the_smallest() {
    for (x, n, limit) in [
        (2, 24, 0.1),
        (1, 24, 0.1),
        (5, 24, 0.1),
        (3, 24, 0.1),
        (2, 12, 0.2),
        (7, 30, 0.2),
        (14, 72, 0.2),
        (1, 3, 0.5),
        (13, 24, 0.5),
        (71, 72, 0.99),
        (1, 1, 0.97),
    ] {
        let decided = sampled(x, n, 0, limit);
        assert_eq!(decided.decision, Decision::Inconclusive, "{x}/{n} at {limit}");
        match by_counting(x, n, limit, 5_000) {
            Some(runs) => assert_eq!(decided.wanted, Wanted::Runs(runs), "{x}/{n} at {limit}"),
            None => {
                assert!(matches!(decided.wanted, Wanted::Runs(5_001..) | Wanted::TooMany), "{x}/{n} at {limit}");
            }
        }
    }
}

#[test]
fn a_rate_at_the_limit_is_told_from_it_by_no_number() {
    assert_eq!(sampled(1, 10, 0, 0.1).wanted, Wanted::AtLimit);
    assert_eq!(sampled(3, 24, 5, 0.125).wanted, Wanted::AtLimit);
    assert_eq!(sampled(0, 24, 0, 0.0).wanted, Wanted::AtLimit);
    assert_eq!(sampled(0, 0, 4, 0.0).wanted, Wanted::AtLimit);
    assert_eq!(sampled(100, 1_000, 0, 0.100_01).wanted, Wanted::TooMany);
    assert_eq!(sampled(0, 10, 0, 1e-9).wanted, Wanted::TooMany);
}

#[test]
fn a_deterministic_reader_has_its_plain_rate() {
    assert_eq!(certain(0, 12, 0, 0.0).decision, Decision::Pass);
    assert_eq!(certain(1, 10, 0, 0.1).decision, Decision::Pass);
    assert_eq!(certain(12, 12, 0, 0.1).decision, Decision::Fail);
    let held_up = certain(0, 12, 2, 0.1);
    assert_eq!((held_up.decision, held_up.wanted), (Decision::Inconclusive, Wanted::MissingRuns));
    assert_eq!(held_up.bounds, Some(Interval { low: 0.0, high: 2.0 / 14.0 }));
    assert_eq!(certain(3, 12, 100, 0.1).decision, Decision::Inconclusive);
    assert_eq!(certain(0, 0, 0, 0.1).wanted, Wanted::CleanRuns(1));
}

#[test]
fn the_worst_arm_decides() {
    use Decision::{Fail, Inconclusive, Pass};
    assert_eq!(Decision::overall([Pass, Pass]), Pass);
    assert_eq!(Decision::overall([Pass, Inconclusive]), Inconclusive);
    assert_eq!(Decision::overall([Fail, Inconclusive, Pass]), Fail);
    assert_eq!(Decision::overall([]), Inconclusive, "nothing looked at is nothing shown");
}

#[test]
fn no_worse_than_a_reference() {
    let decision = |new: Evidence, reference: Evidence, margin: f64| {
        compare(new, reference, margin, Reader::Sampled, A).expect("compared").decision
    };
    // Science notes, section 4.2: 0/n against 0/n passes from these n on; 14/72 twice does not at 10 points.
    for (margin, runs) in [(0.15, 16), (0.10, 25), (0.05, 52), (0.03, 88)] {
        let clean = |n| evidence(0, n, 0);
        assert_eq!(decision(clean(runs), clean(runs), margin), Decision::Pass, "{margin}");
        assert_eq!(decision(clean(runs - 1), clean(runs - 1), margin), Decision::Inconclusive, "{margin}");
    }
    let before = evidence(14, 72, 0);
    assert_eq!(decision(before, before, 0.1), Decision::Inconclusive);
    assert_eq!(decision(evidence(8, 72, 0), before, 0.05), Decision::Pass);
    assert_eq!(decision(evidence(8, 72, 9), before, 0.05), Decision::Inconclusive);
    assert_eq!(decision(evidence(8, 72, 0), evidence(14, 72, 20), 0.05), Decision::Inconclusive);
    assert_eq!(decision(evidence(52, 72, 0), before, 0.1), Decision::Fail);
    assert_eq!(decision(evidence(52, 72, 0), evidence(14, 72, 90), 0.1), Decision::Inconclusive);
    for (new, reference) in [(evidence(0, 0, 72), before), (before, evidence(0, 0, 72))] {
        let nothing = compare(new, reference, 0.1, Reader::Sampled, A).expect("compared");
        assert_eq!((nothing.decision, nothing.bounds), (Decision::Inconclusive, None));
    }
    let plain =
        |new, reference, margin| compare(new, reference, margin, Reader::Deterministic, A).expect("compared").decision;
    assert_eq!(plain(evidence(0, 12, 0), evidence(0, 12, 0), 0.0), Decision::Pass);
    assert_eq!(plain(evidence(3, 12, 0), evidence(0, 12, 0), 0.2), Decision::Fail);
    assert_eq!(plain(evidence(0, 12, 1), evidence(0, 12, 0), 0.05), Decision::Inconclusive);
}

#[test]
fn what_is_no_count_or_rate_is_named() {
    let code = |x, n, m| Evidence::new(x, n, m).map_err(|e| e.code());
    assert_eq!(code(2, 1, 9).err(), Some("count_exceeds_n"));
    assert_eq!(code(0, u64::MAX, u64::MAX).err(), Some("too_large"));
    let e = evidence(0, 29, 0);
    for bad in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert_eq!(decide(e, bad, Reader::Sampled, A).map_err(|e| e.code()).err(), Some("invalid_p"), "{bad}");
        assert_eq!(compare(e, e, bad, Reader::Sampled, A).map_err(|e| e.code()).err(), Some("invalid_p"), "{bad}");
    }
}

proptest! {
    #[test]
    fn the_bounds_and_the_tails_agree(
        (n, x, m) in (0u64..120).prop_flat_map(|n| (Just(n), 0..=n, 0u64..40)),
        limit in 0.005f64..0.995,
    ) {
        prop_assume!(n == 0 || (at_most(x + m, n + m, limit) - LEVEL).abs() > 1e-9);
        prop_assume!(n == 0 || (at_least(x, n + m, limit) - LEVEL).abs() > 1e-9);
        prop_assert_eq!(sampled(x, n, m, limit).decision, by_tails(x, n, m, limit));
    }

    #[test]
    fn the_number_that_would_decide_is_the_smallest_there_is(
        (n, x) in (1u64..60).prop_flat_map(|n| (Just(n), 0..=n)),
        m in 0u64..5,
        percent in 1u32..100,
    ) {
        let limit = f64::from(percent) / 100.0;
        if let Wanted::Runs(runs) = sampled(x, n, m, limit).wanted {
            // Above that, counting takes too long.
            prop_assume!(runs <= 1_500);
            prop_assert_eq!(by_counting(x, n, limit, 1_500), Some(runs));
        }
    }

    #[test]
    fn another_laundered_or_missing_run_never_helps(
        (n, x) in (1u64..150).prop_flat_map(|n| (Just(n), 0..n)),
        m in 0u64..40,
        limit in 0.01f64..0.99,
    ) {
        let before = sampled(x, n, m, limit);
        prop_assert!(sampled(x + 1, n, m, limit).decision >= before.decision);
        let (more, high) = (sampled(x, n, m + 1, limit), |a: Assessment| a.bounds.map(|b| b.high));
        prop_assert!(high(more) >= high(before));
        prop_assert!(before.decision == Decision::Pass || more.decision != Decision::Pass);
        prop_assert!(before.decision == Decision::Fail || more.decision != Decision::Fail);
        // A looser limit never turns a pass into anything else, nor anything else into a fail.
        prop_assert!(sampled(x, n, m, (limit + 0.01).min(1.0)).decision <= before.decision);
    }

    #[test]
    fn a_missing_run_never_makes_a_comparison_look_better(
        (n, x) in (1u64..100).prop_flat_map(|n| (Just(n), 0..=n)),
        (k, y) in (1u64..100).prop_flat_map(|n| (Just(n), 0..=n)),
        m in 0u64..20,
        margin in 0.01f64..0.5,
    ) {
        let decision = |m, lost| {
            let (new, reference) = (evidence(x, n, m), evidence(y, k, lost));
            compare(new, reference, margin, Reader::Sampled, A).expect("compared").decision
        };
        let before = decision(m, m);
        for after in [decision(m + 1, m), decision(m, m + 1)] {
            prop_assert!(after == before || after == Decision::Inconclusive, "{before:?} became {after:?}");
        }
    }
}

#[test]
fn clustered_runs_decide_less() {
    let evidence = Evidence::new(1, 72, 0).expect("valid");
    let at = |deff: f64| decide(evidence.clustered(deff).expect("finite"), 0.1, Reader::Sampled, A).expect("defined");
    let (plain, clustered) = (at(1.0), at(3.0));
    assert_eq!(plain.decision, Decision::Pass);
    assert_eq!(clustered.decision, Decision::Inconclusive);
    // The number that would decide is larger, and with it the gate passes.
    let Wanted::Runs(wanted) = clustered.wanted else { panic!("{clustered:?}") };
    assert!(wanted > 72);
    assert_eq!(at(0.5), plain, "clustering is not taken to help");
    assert_eq!(evidence.clustered(f64::NAN).map_err(|e| e.code()), Err("invalid_parameter"));
    let before = Evidence::new(1, 72, 0).expect("valid");
    let limits = |deff: f64| {
        let new = evidence.clustered(deff).expect("finite");
        compare(new, before, 0.1, Reader::Sampled, A).expect("defined").bounds.expect("both ran")
    };
    assert!(limits(3.0).low < limits(1.0).low && limits(1.0).high < limits(3.0).high);
}
