//! Chance that a seed repeats, for each actor of its own.

/// SplitMix64, as published by Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// The chance of one actor in a run.
    pub fn of(seed: u64, actor: u64) -> Self {
        let mut chance = Self(seed ^ actor.wrapping_mul(0xd6e8_feb8_6659_fd93));
        chance.next();
        chance
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below this one.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end).unwrap()).unwrap()
    }

    /// One of them.
    pub fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// Whether a thing happens that happens so many times in a hundred.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// Where chance begins: the seed that `ACTUM_FAULTS_SEED` gives, or one of now.
pub fn seed() -> u64 {
    match std::env::var("ACTUM_FAULTS_SEED") {
        Ok(given) => given.parse().expect("ACTUM_FAULTS_SEED is a whole number"),
        Err(_) => u64::try_from(ulid::Ulid::generate().random() & 0xffff_ffff).unwrap(),
    }
}
