// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

//! The small controller of docs/comparison.md on kube-rs.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures::StreamExt;
use k8s_openapi::api::apps::v1::{Deployment, DeploymentSpec};
use k8s_openapi::api::core::v1::{Container, PodSpec, PodTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use kube::api::{Api, Patch, PatchParams};
use kube::runtime::controller::{Action, Config, Controller};
use kube::runtime::watcher;
use kube::{Client, CustomResource, Resource, ResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "samplecontroller.k8s.io", version = "v1alpha1", kind = "Foo", namespaced, status = "FooStatus")]
#[serde(rename_all = "camelCase")]
struct FooSpec {
    deployment_name: Option<String>,
    replicas: Option<i32>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FooStatus {
    available_replicas: Option<i32>,
}

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Kube(#[from] kube::Error),
    #[error("deployment {0} belongs to somebody else")]
    Taken(String),
}

async fn reconcile(foo: Arc<Foo>, client: Arc<Client>) -> Result<Action, Error> {
    let (Some(namespace), Some(name)) = (foo.namespace(), foo.spec.deployment_name.as_deref()) else {
        return Ok(Action::await_change());
    };
    let deployments: Api<Deployment> = Api::namespaced((*client).clone(), &namespace);
    if let Some(found) = deployments.get_opt(name).await? {
        if !found.owner_references().iter().any(|o| o.controller == Some(true) && Some(&o.uid) == foo.meta().uid.as_ref()) {
            return Err(Error::Taken(name.to_owned()));
        }
    }
    let apply = PatchParams::apply("foos").force(); // takes over what others set
    let deployment = deployments.patch(name, &apply, &Patch::Apply(deployment_for(&foo, name))).await?;
    let available = deployment.status.and_then(|status| status.available_replicas).unwrap_or(0);
    if foo.status.as_ref().and_then(|status| status.available_replicas).unwrap_or(0) != available {
        let patch = json!({"status": {"availableReplicas": available}});
        let foos: Api<Foo> = Api::namespaced((*client).clone(), &namespace);
        foos.patch_status(&foo.name_any(), &PatchParams::default(), &Patch::Merge(patch)).await?;
    }
    Ok(Action::await_change())
}

fn deployment_for(foo: &Foo, name: &str) -> Deployment {
    let labels = BTreeMap::from([("app".into(), "nginx".into()), ("controller".into(), foo.name_any())]);
    let container = Container { name: "nginx".into(), image: Some("nginx:latest".into()), ..Default::default() };
    Deployment {
        metadata: ObjectMeta {
            name: Some(name.into()),
            owner_references: foo.controller_owner_ref(&()).map(|owner| vec![owner]),
            ..Default::default()
        },
        spec: DeploymentSpec {
            replicas: foo.spec.replicas,
            selector: LabelSelector { match_labels: Some(labels.clone()), ..Default::default() },
            template: PodTemplateSpec {
                metadata: Some(ObjectMeta { labels: Some(labels), ..Default::default() }),
                spec: Some(PodSpec { containers: vec![container], ..Default::default() }),
            },
            ..Default::default()
        },
        ..Default::default()
    }
}

fn on_error(_: Arc<Foo>, error: &Error, _: Arc<Client>) -> Action {
    eprintln!("reconcile failed: {error}");
    Action::requeue(Duration::from_secs(1))
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let client = Client::try_default().await?;
    Controller::new(Api::<Foo>::all(client.clone()), watcher::Config::default())
        .owns(Api::<Deployment>::all(client.clone()), watcher::Config::default())
        .with_config(Config::default().concurrency(2))
        .shutdown_on_signal()
        .run(reconcile, on_error, Arc::new(client))
        .for_each(|_| async {})
        .await;
    Ok(())
}
