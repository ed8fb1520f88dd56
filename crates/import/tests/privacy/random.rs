//! Seeded choices: a stream of numbers hashed from the seed.

/// A stream of choices.
pub(crate) struct Random {
    seed: u64,
    purpose: &'static str,
    drawn: u64,
}

pub(crate) const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
pub(crate) const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
pub(crate) const DIGITS: &str = "0123456789";
pub(crate) const HEX: &str = "0123456789abcdef";

impl Random {
    pub(crate) fn new(seed: u64, purpose: &'static str) -> Self {
        Self { seed, purpose, drawn: 0 }
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.drawn += 1;
        let hash = blake3::hash(format!("{} {} {}", self.seed, self.purpose, self.drawn).as_bytes());
        let bytes: [u8; 8] = hash.as_bytes()[..8].try_into().expect("eight");
        usize::try_from(u64::from_le_bytes(bytes) % n as u64).expect("small")
    }

    pub(crate) fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    /// `length` characters of an alphabet.
    pub(crate) fn of(&mut self, alphabet: &str, length: usize) -> String {
        let all: Vec<char> = alphabet.chars().collect();
        (0..length).map(|_| all[self.below(all.len())]).collect()
    }

    /// `length` letters and digits.
    pub(crate) fn alnum(&mut self, length: usize) -> String {
        self.of(&format!("{LOWER}{UPPER}{DIGITS}"), length)
    }

    /// `length` characters of URL-safe Base64.
    pub(crate) fn base64url(&mut self, length: usize) -> String {
        self.of(&format!("{LOWER}{UPPER}{DIGITS}-_"), length)
    }

    /// `length` characters of Base64.
    pub(crate) fn base64(&mut self, length: usize) -> String {
        self.of(&format!("{LOWER}{UPPER}{DIGITS}+/"), length)
    }

    pub(crate) fn hex(&mut self, length: usize) -> String {
        self.of(HEX, length)
    }

    pub(crate) fn digits(&mut self, length: usize) -> String {
        self.of(DIGITS, length)
    }

    pub(crate) fn uuid(&mut self) -> String {
        format!("{}-{}-4{}-a{}-{}", self.hex(8), self.hex(4), self.hex(3), self.hex(3), self.hex(12))
    }

    pub(crate) fn name(&mut self) -> &'static str {
        const NAMES: &[&str] = &[
            "anna", "bjorn", "carla", "dmitri", "elif", "farid", "greta", "hiro", "ines", "jonas", "katya", "liam",
            "mei", "noor", "olga", "pavel", "quinn", "rosa", "sven", "tariq", "uma", "viktor", "wanda", "xiao",
            "yusuf", "zoe",
        ];
        NAMES[self.below(NAMES.len())]
    }
}
