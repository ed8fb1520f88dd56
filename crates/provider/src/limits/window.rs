//! How many calls may be in flight: one more for each round trip of successes, fewer after a 429.
//!
//! The rules, each for a reason:
//!
//! * it begins at the ceiling: the user's figure is believed until the provider says otherwise;
//! * a success counts only while the window is nearly full, since an unused limit has not been tried;
//! * all 429 of one burst are one cut: a call that was sent before the last cut says nothing new;
//! * an overloaded server (5xx) only holds growth for a round trip: it says nothing about this account's limit.

/// What a 429 leaves of the window.
const CUT: f64 = 0.7;
/// How full the window has to be for a success to count.
const USED: f64 = 0.8;

/// Calls in flight, and how many there may be.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    ceiling: f64,
    size: f64,
    in_flight: u32,
    /// Counts cuts and holds: a call knows by it whether it was sent before the last one.
    round: u64,
    /// The round that the last cut began.
    cut_at: u64,
}

/// When a call was sent, in rounds of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    round: u64,
}

impl Window {
    /// A window of at most `ceiling` calls; at least one is always let through.
    pub fn new(ceiling: u32) -> Self {
        let ceiling = f64::from(ceiling.max(1));
        Self { ceiling, size: ceiling, in_flight: 0, round: 0, cut_at: 0 }
    }

    /// How many calls may be in flight.
    pub fn size(&self) -> u32 {
        // The size is between 1 and a ceiling that was a u32.
        self.size as u32
    }

    /// Calls in flight.
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Whether another call may be sent.
    pub fn has_room(&self) -> bool {
        self.in_flight < self.size()
    }

    /// Notes that a call is sent.
    pub fn send(&mut self) -> Sent {
        self.in_flight += 1;
        Sent { round: self.round }
    }

    /// Notes that a call was answered.
    pub fn succeeded(&mut self, sent: Sent) {
        let used = f64::from(self.in_flight) >= USED * f64::from(self.size());
        self.left();
        if used && sent.round == self.round {
            self.size = (self.size + 1.0 / self.size).min(self.ceiling);
        }
    }

    /// Notes that a call was refused as one too many.
    pub fn refused(&mut self, sent: Sent) {
        self.left();
        if sent.round >= self.cut_at {
            self.round += 1;
            self.cut_at = self.round;
            self.size = (self.size * CUT).max(1.0);
        }
    }

    /// Notes that the server failed or was overloaded.
    pub fn overloaded(&mut self, sent: Sent) {
        self.left();
        if sent.round == self.round {
            self.round += 1;
        }
    }

    /// Notes that a call ended in a way that says nothing about limits.
    pub fn left(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Sent, Window};

    fn full(window: &mut Window) -> Vec<Sent> {
        std::iter::from_fn(|| window.has_room().then(|| window.send())).collect()
    }

    #[test]
    fn a_burst_of_refusals_is_one_cut_and_the_next_burst_another() {
        let mut window = Window::new(32);
        let sent = full(&mut window);
        assert_eq!(sent.len(), 32);
        sent.into_iter().for_each(|sent| window.refused(sent));
        assert_eq!(window.size(), 22);
        full(&mut window).into_iter().for_each(|sent| window.refused(sent));
        assert_eq!(window.size(), 15);
    }

    #[test]
    fn a_round_trip_of_successes_is_one_more_and_the_ceiling_holds() {
        let mut window = Window::new(8);
        full(&mut window).into_iter().for_each(|sent| window.refused(sent));
        assert_eq!(window.size(), 5);
        // Each answer is followed by the next call, as in a run that has more to ask.
        let mut sent: std::collections::VecDeque<Sent> = full(&mut window).into();
        for _ in 0..100 {
            if let Some(first) = sent.pop_front() {
                window.succeeded(first);
            }
            sent.extend(full(&mut window));
        }
        assert_eq!(window.size(), 8);
    }

    #[test]
    fn a_window_that_is_not_used_does_not_grow() {
        let mut window = Window::new(32);
        full(&mut window).into_iter().for_each(|sent| window.refused(sent));
        for _ in 0..100 {
            let sent = window.send();
            window.succeeded(sent);
        }
        assert_eq!(window.size(), 22);
    }

    #[test]
    fn an_overloaded_server_holds_growth_and_takes_nothing() {
        let mut window = Window::new(10);
        full(&mut window).into_iter().for_each(|sent| window.refused(sent));
        let before = window.size();
        let sent = full(&mut window);
        let (failed, rest) = sent.split_first().expect("a call");
        window.overloaded(*failed);
        rest.iter().for_each(|sent| window.succeeded(*sent));
        assert_eq!(window.size(), before);
        // A 429 of the same burst still counts: the two say different things.
        let sent = full(&mut window);
        window.overloaded(sent[0]);
        window.refused(sent[1]);
        assert!(window.size() < before);
    }

    proptest! {
        #[test]
        fn it_never_leaves_its_bounds(ceiling in 1u32..64, steps in prop::collection::vec(0u8..5, 0..400)) {
            let mut window = Window::new(ceiling);
            let mut sent = std::collections::VecDeque::new();
            for step in steps {
                match (step, sent.front().copied()) {
                    (0 | 1, _) if window.has_room() => sent.push_back(window.send()),
                    (0 | 1, _) | (_, None) => continue,
                    (2, Some(first)) => window.succeeded(first),
                    (3, Some(first)) => window.refused(first),
                    (_, Some(first)) => window.overloaded(first),
                }
                if step > 1 {
                    sent.pop_front();
                }
                prop_assert!((1..=ceiling).contains(&window.size()));
                prop_assert_eq!(window.in_flight() as usize, sent.len());
                prop_assert!(window.in_flight() <= ceiling);
            }
        }
    }
}
