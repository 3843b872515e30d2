// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

use std::error::Error;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use k8s_openapi::api::{
    admissionregistration::v1::*, apps::v1::*, autoscaling, batch::v1::*, certificates::v1::*, coordination::v1::*,
    core::v1::*, discovery::v1::*, events, flowcontrol::v1::*, networking::v1::*, node::v1::*, policy::v1::*,
    rbac::v1::*, resource::v1::*, scheduling::v1::*, storage::v1::*,
};
use k8s_openapi::serde::de::DeserializeOwned;
use kube::api::{ApiResource, DynamicObject, GroupVersionKind};
use kube::runtime::reflector::store::Writer;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, Resource};
use tokio::io::AsyncReadExt;

/// The reflectors of one process.
struct All {
    client: Client,
    config: watcher::Config,
    count: Arc<AtomicUsize>,
    ready: Vec<BoxFuture<'static, ()>>,
}

impl All {
    fn new(client: Client, config: watcher::Config) -> Self {
        Self {
            client,
            config,
            count: Arc::default(),
            ready: Vec::new(),
        }
    }

    fn add<K>(&mut self)
    where
        K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + Sync + 'static,
    {
        self.follow(Api::<K>::all(self.client.clone()), ());
    }

    fn follow<K>(&mut self, api: Api<K>, kind: K::DynamicType)
    where
        K: Resource + Clone + DeserializeOwned + Debug + Send + Sync + 'static,
        K::DynamicType: Clone + Eq + Hash + Send + Sync,
    {
        let writer = Writer::<K>::new(kind);
        let store = writer.as_reader();
        let objects = watcher(api, self.config.clone())
            .default_backoff()
            .reflect(writer)
            .applied_objects();
        let count = self.count.clone();
        tokio::spawn(objects.for_each(move |object| {
            match object {
                Ok(object) if object.meta().name.is_some() => {
                    count.fetch_add(1, Ordering::Relaxed);
                }
                Ok(_) => {}
                Err(error) => eprintln!("kube-rs: {error}"),
            }
            std::future::ready(())
        }));
        // The stream's task ends with the process only, so the store becomes ready.
        self.ready
            .push(async move { drop(store.wait_until_ready().await) }.boxed());
    }

    async fn sync(self) -> Result<(), Box<dyn Error>> {
        for ready in self.ready {
            ready.await;
        }
        println!("synced {}", self.count.load(Ordering::Relaxed));
        tokio::io::stdin().read_to_end(&mut Vec::new()).await?; // until the end of the run
        Ok(())
    }
}

/// Adds one reflector for each type.
macro_rules! add {
    ($all:ident: $($kind:ty),* $(,)?) => { $($all.add::<$kind>();)* };
}

/// Starts a reflector for each kind of the server's file mixed.txt.
pub async fn run_mixed(client: Client, config: watcher::Config) -> Result<(), Box<dyn Error>> {
    let mut all = All::new(client, config);
    add!(all: ConfigMap, Endpoints, k8s_openapi::api::core::v1::Event, LimitRange, Namespace, Node, PersistentVolumeClaim,
        PersistentVolume, Pod, PodTemplate, ReplicationController, ResourceQuota, Secret, ServiceAccount, Service);
    add!(all: ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet, CronJob, Job);
    add!(all: IngressClass, Ingress, IPAddress, NetworkPolicy, ServiceCIDR);
    add!(all: ClusterRoleBinding, ClusterRole, RoleBinding, Role);
    add!(all: CSIDriver, CSINode, CSIStorageCapacity, StorageClass, VolumeAttachment, VolumeAttributesClass);
    add!(all: MutatingWebhookConfiguration, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
        ValidatingWebhookConfiguration);
    add!(all: DeviceClass, k8s_openapi::api::resource::v1::ResourceClaim, ResourceClaimTemplate, ResourceSlice);
    add!(all: autoscaling::v1::HorizontalPodAutoscaler, autoscaling::v2::HorizontalPodAutoscaler);
    add!(all: CertificateSigningRequest, Lease, EndpointSlice, events::v1::Event, FlowSchema,
        PriorityLevelConfiguration, RuntimeClass, PodDisruptionBudget, PriorityClass);
    all.sync().await
}

/// Starts a reflector without Rust types for each resource of the file.
pub async fn run_dynamic(client: Client, config: watcher::Config, path: &str) -> Result<(), Box<dyn Error>> {
    let mut all = All::new(client, config);
    for line in std::fs::read_to_string(path)?.lines() {
        let [group, version, resource, kind, ..] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            return Err(format!("{path}: not a line with 6 words: {line}").into());
        };
        let kind = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, kind), resource);
        all.follow(Api::<DynamicObject>::all_with(all.client.clone(), &kind), kind);
    }
    all.sync().await
}
