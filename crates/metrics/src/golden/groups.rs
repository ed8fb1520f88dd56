//! Evaluators for what trials share: pairs, strata, sessions.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::input::{Input, Row, fault};
use super::{EvalError, Evaluated};
use crate::counts::{Counts, OddsRatio};
use crate::paired::{self, Observation};
use crate::{bootstrap, cluster, difference, signflip, strata};

/// Reference files write an infinite ratio as -1 and leave an undefined one out.
fn insert_odds(fields: &mut Value, name: &str, odds: OddsRatio) {
    match odds {
        OddsRatio::Finite(ratio) => fields[name] = json!(ratio),
        OddsRatio::Infinite => fields[name] = json!(-1.0),
        OddsRatio::Undefined => {}
    }
}

pub(super) fn mcnemar(input: &Input<'_>) -> Evaluated {
    let t = paired::mcnemar(input.count("b")?, input.count("c")?)?;
    let mut fields = json!({"p_exact": t.p_exact, "p_midp": t.p_mid, "n_discordant": t.discordant});
    insert_odds(&mut fields, "odds_ratio", t.odds_ratio);
    if let Some(c) = t.chi_square {
        fields["chi2"] = json!(c.chi2);
        fields["p_chi2"] = json!(c.p);
        fields["chi2_cc"] = json!(c.chi2_corrected);
        fields["p_chi2_cc"] = json!(c.p_corrected);
    }
    Ok(fields)
}

pub(super) fn mcnemar_from_rows(input: &Input<'_>) -> Evaluated {
    let key = input.names("pair_key")?;
    let arm = |field: &str| -> Result<BTreeMap<String, Observation>, EvalError> {
        input
            .arm_rows(input.text(field)?)?
            .iter()
            .map(|row| {
                let observation = if row.laundered()? > 0.5 { Observation::Event } else { Observation::NoEvent };
                Ok((row.key(&key), observation))
            })
            .collect()
    };
    let pairs = paired::match_pairs(&arm("arm1")?, &arm("arm2")?);
    let t = paired::mcnemar(pairs.first_only, pairs.second_only)?;
    Ok(json!({"pairs": pairs.pairs, "b": pairs.first_only, "c": pairs.second_only, "p_exact": t.p_exact,
        "p_midp": t.p_mid}))
}

pub(super) fn cmh(input: &Input<'_>) -> Evaluated {
    let strata = input.strata()?;
    let t = strata::cmh(&strata)?;
    let mut fields = json!({"cmh_chi2": t.chi2, "p": t.p, "cmh_chi2_cc": t.chi2_corrected, "p_cc": t.p_corrected,
        "signed_z": t.signed_z, "mh_risk_difference": t.risk_difference, "mh_rd_se_sato": t.risk_difference_se});
    insert_odds(&mut fields, "mh_odds_ratio", t.odds_ratio);
    let pooled = strata::pool(&strata).and_then(|arms| difference::z_pooled(arms.first, arms.second));
    if let Ok(z) = pooled {
        fields["pooled_z"] = json!(z.z);
        fields["pooled_p"] = json!(z.p_two_sided);
    }
    Ok(fields)
}

pub(super) fn cochran_q(input: &Input<'_>) -> Evaluated {
    let t = strata::cochran_q(&input.strata()?)?;
    Ok(json!({"q": t.q, "df": t.df, "p": t.p, "i2": t.i2, "pooled_diff": t.pooled_diff}))
}

pub(super) fn breslow_day(input: &Input<'_>) -> Evaluated {
    let t = strata::breslow_day(&input.strata()?)?;
    Ok(json!({"chi2": t.reference.chi2, "df": t.df, "p": t.reference.p}))
}

/// The rows of an arm as (cluster, outcome).
fn clustered(rows: &[Row<'_>], cluster: &str) -> Result<Vec<(String, f64)>, EvalError> {
    rows.iter().map(|row| Ok((row.key(&[cluster]), row.laundered()?))).collect()
}

pub(super) fn cluster_se(input: &Input<'_>) -> Evaluated {
    let rows = if input.get("y").is_some() {
        let (y, clusters) = (input.numbers("y")?, input.keys("cluster")?);
        if y.len() != clusters.len() {
            return Err(fault("cluster", "one entry for each y"));
        }
        clusters.into_iter().zip(y).collect()
    } else {
        clustered(&input.arm_rows(input.text("arm")?)?, input.text("cluster")?)?
    };
    let m = cluster::cluster_mean(rows)?;
    let mut fields = json!({"mean": m.mean, "se_bernoulli": m.se_bernoulli, "se_clt": m.se_clt,
        "se_cluster_cr0": m.se_cr0, "se_cluster_cr1": m.se_cr1, "se_cluster_miller": m.se_miller,
        "deff_cr1": m.deff, "n_clusters": m.clusters});
    if let Some(icc) = m.icc_anova {
        fields["icc_anova"] = json!(icc);
    }
    if let Some(n_eff) = m.n_eff {
        fields["n_eff"] = json!(n_eff);
    }
    Ok(fields)
}

/// The rows of the arms in `arm1` and `arm2`.
struct ArmRows {
    first: Vec<(String, f64)>,
    second: Vec<(String, f64)>,
}

fn two_arms(input: &Input<'_>) -> Result<ArmRows, EvalError> {
    let cluster = input.text("cluster")?;
    let arm = |field: &str| clustered(&input.arm_rows(input.text(field)?)?, cluster);
    Ok(ArmRows { first: arm("arm1")?, second: arm("arm2")? })
}

pub(super) fn cluster_robust_difference(input: &Input<'_>) -> Evaluated {
    let arms = two_arms(input)?;
    let d = cluster::cluster_robust_difference(arms.first, arms.second)?;
    Ok(json!({"diff": d.diff, "se_cr1": d.se, "z": d.z, "p_two_sided": d.p_two_sided}))
}

pub(super) fn paired_sessions(input: &Input<'_>) -> Evaluated {
    let differences = if input.get("session_diffs").is_some() {
        input.numbers("session_diffs")?
    } else {
        let arms = two_arms(input)?;
        cluster::session_differences(arms.first, arms.second)?
    };
    let t = cluster::paired_sessions(&differences, input.alpha()?)?;
    Ok(json!({"mean_diff": t.mean_diff, "se": t.se, "t": t.t, "df": t.df, "p_t": t.p_t,
        "ci_low": t.interval.low, "ci_high": t.interval.high, "p_signflip_exact": t.p_sign_flip}))
}

pub(super) fn sign_flip(input: &Input<'_>) -> Evaluated {
    Ok(json!({"p_two_sided": signflip::sign_flip(&input.numbers("d")?)?}))
}

pub(super) fn cluster_bootstrap(input: &Input<'_>) -> Evaluated {
    let (x, n) = (input.counts_list("cluster_x")?, input.counts_list("cluster_n")?);
    if x.len() != n.len() {
        return Err(fault("cluster_n", "one entry for each of cluster_x"));
    }
    let clusters = x.into_iter().zip(n).map(|(x, n)| Counts::new(x, n)).collect::<Result<Vec<_>, _>>()?;
    let b = bootstrap::cluster_bootstrap(&clusters)?;
    Ok(json!({"n_resamples": b.resamples, "boot_mean": b.mean, "boot_sd": b.sd, "q025": b.q025, "q50": b.q50,
        "q975": b.q975}))
}

pub(super) fn deff_bound(input: &Input<'_>) -> Evaluated {
    let b = cluster::deff_bound(input.number("z")?, input.alpha()?, input.number("cluster_size")?)?;
    Ok(json!({"deff_to_lose": b.deff_to_lose, "z_at_rho1": b.z_at_rho1, "p_at_rho1": b.p_at_rho1,
        "z_at_rho0_2": b.z_at_rho0_2, "z_at_rho0_5": b.z_at_rho0_5}))
}
