// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

//! kube-rs's reflectors for `./dev bench peers`. Reads $KUBECONFIG.
//!
//! ```text
//! kube_rs_informers [--paged] pods
//! kube_rs_informers [--paged] mixed
//! kube_rs_informers [--paged] dynamic FILE        the resources of that file of the server
//! ```
//!
//! Prints "synced N" when the loops behind the streams have had all N objects. With "pods" it then takes commands on
//! standard input: "phase" forgets all latencies, "report" prints them, "reads SECONDS" measures reads from the store.
//! When the loop gets the last event of a phase, it prints "seen". The programs for kgen and client-go do the same.

mod kinds;
mod observed;
mod reads;

use std::error::Error;
use std::sync::Arc;

use futures::TryStreamExt;
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::{WatchStreamExt, reflector, watcher};
use kube::{Api, Client};
use tokio::io::{AsyncBufReadExt, BufReader};

use observed::Observed;

async fn run_pods(client: Client, config: watcher::Config) -> Result<(), Box<dyn Error>> {
    let seen = Arc::new(Observed::default());
    seen.begin();
    let (store, writer) = reflector::store::<Pod>();
    let pods = watcher(Api::<Pod>::all(client), config)
        .default_backoff()
        .reflect(writer)
        .applied_objects();
    let observed = seen.clone();
    tokio::spawn(async move {
        let mut pods = std::pin::pin!(pods);
        loop {
            match pods.try_next().await {
                Ok(Some(pod)) => observed.object(&pod),
                Ok(None) => break,
                Err(watcher::Error::WatchError(status)) if status.code == 410 => {} // what a relist begins with
                Err(error) => eprintln!("kube-rs: {error}"),
            }
        }
    });
    store.wait_until_ready().await?;
    println!("synced {}", store.len());
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        match line.split_once(' ').unwrap_or((&line, "")) {
            ("phase", _) => {
                seen.begin();
                println!("phase");
            }
            ("report", _) => seen.report(),
            ("reads", seconds) => {
                let (store, seconds) = (store.clone(), seconds.parse()?);
                tokio::task::spawn_blocking(move || reads::run(&store, seconds)).await??;
            }
            _ => return Err(format!("no such command: {line}").into()),
        }
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (flags, verbs): (Vec<_>, Vec<_>) = std::env::args().skip(1).partition(|a| a.starts_with("--"));
    let config = match flags.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => watcher::Config::default().streaming_lists(),
        ["--paged"] => watcher::Config::default(),
        _ => return Err("the only flag is --paged".into()),
    };
    let client = Client::try_default().await?;
    match verbs.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["pods"] => run_pods(client, config).await,
        ["mixed"] => kinds::run_mixed(client, config).await,
        ["dynamic", path] => kinds::run_dynamic(client, config, path).await,
        _ => Err("usage: kube_rs_informers [--paged] pods|mixed|dynamic FILE".into()),
    }
}
