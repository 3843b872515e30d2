// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::Pod;
use kube::runtime::reflector::{ObjectRef, Store};

const GETS_BETWEEN_LOOKS: u64 = 256; // at the clock

fn thread_cpu() -> Duration {
    let mut used = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is that of a local variable.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut used) };
    Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
}

/// Gets pods by random names for so many seconds. Prints the number of gets, and the nanoseconds of CPU and of time.
pub fn run(store: &Store<Pod>, seconds: f64) -> Result<(), String> {
    let keys: Vec<(String, String)> = store
        .state()
        .iter()
        .map(|pod| {
            (
                pod.metadata.namespace.clone().unwrap_or_default(),
                pod.metadata.name.clone().unwrap_or_default(),
            )
        })
        .collect();
    let (start, cpu) = (Instant::now(), thread_cpu());
    let (mut gets, mut missing, mut random) = (0u64, 0u64, 88172645463325252u64);
    while start.elapsed().as_secs_f64() < seconds {
        for _ in 0..GETS_BETWEEN_LOOKS {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let (namespace, name) = &keys[(random % keys.len() as u64) as usize];
            let pod = store.get(&ObjectRef::new(name).within(namespace));
            if pod.is_none_or(|pod| pod.metadata.name.as_ref() != Some(name)) {
                missing += 1;
            }
        }
        gets += GETS_BETWEEN_LOOKS;
    }
    let (used, passed) = (thread_cpu() - cpu, start.elapsed());
    if missing != 0 {
        return Err(format!("{missing} of {gets} gets found nothing"));
    }
    println!("reads {gets} {} {}", used.as_nanos(), passed.as_nanos());
    Ok(())
}
