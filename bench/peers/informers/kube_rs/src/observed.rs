// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use k8s_openapi::api::core::v1::Pod;

const SENT_KEY: &str = "bench.kgen.dev/sent";

/// Counts latencies in microseconds, with an error of up to 3 %. All contestants have the same one.
struct Histogram {
    counts: [u64; 2048],
    total: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: [0; 2048],
            total: 0,
            max: 0,
        }
    }
}

impl Histogram {
    fn record(&mut self, microseconds: u64) {
        let mut at = microseconds;
        if at >= 64 {
            let shift = u64::from(microseconds.ilog2()) - 5;
            at = 64 + (shift - 1) * 32 + (microseconds >> shift) - 32;
        }
        self.counts[at.min(2047) as usize] += 1;
        self.total += 1;
        self.max = self.max.max(microseconds);
    }

    fn percentile(&self, share: f64) -> u64 {
        let mut left = (share * self.total as f64) as u64;
        for (i, count) in self.counts.iter().enumerate() {
            let i = i as u64;
            if left < *count {
                return if i < 64 {
                    i
                } else {
                    ((i - 64) % 32 + 32) << ((i - 64) / 32 + 1)
                };
            }
            left -= count;
        }
        self.max
    }
}

#[derive(Default)]
struct Phase {
    since: i64, // nanoseconds since 1970
    latencies: Histogram,
    names: usize, // bytes
}

/// What the loop behind the stream has seen of the current phase.
#[derive(Default)]
pub struct Observed(Mutex<Phase>);

fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_nanos() as i64)
}

impl Observed {
    pub fn object(&self, pod: &Pod) {
        let now = now();
        let annotations = pod.metadata.annotations.as_ref();
        let Some(sent) = annotations.and_then(|all| all.get(SENT_KEY)) else {
            return;
        };
        let Some(at) = sent.get(1..).and_then(|digits| digits.parse::<i64>().ok()) else {
            return;
        };
        let mut phase = self.0.lock().unwrap();
        phase.names += pod.metadata.name.as_ref().map_or(0, String::len);
        if at < phase.since {
            return; // a relist passes unchanged objects on too
        }
        phase.latencies.record((now - at).max(0) as u64 / 1000);
        if sent.starts_with('!') {
            println!("seen");
        }
    }

    pub fn begin(&self) {
        let mut phase = self.0.lock().unwrap();
        phase.since = now();
        phase.latencies = Histogram::default();
    }

    pub fn report(&self) {
        let phase = self.0.lock().unwrap();
        let h = &phase.latencies;
        println!(
            "report {} {} {} {} {}",
            h.total,
            h.percentile(0.5),
            h.percentile(0.99),
            h.percentile(0.999),
            h.max
        );
    }
}
