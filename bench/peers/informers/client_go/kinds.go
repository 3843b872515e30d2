// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// runMixed starts an informer for each kind of the server's file mixed.txt.
func runMixed(ctx context.Context, client kubernetes.Interface) error {
	f := informers.NewSharedInformerFactory(client, 0)
	core, apps, batch := f.Core().V1(), f.Apps().V1(), f.Batch().V1()
	net, rbac, storage := f.Networking().V1(), f.Rbac().V1(), f.Storage().V1()
	admission, resource := f.Admissionregistration().V1(), f.Resource().V1()
	return syncAll(ctx, []cache.SharedIndexInformer{
		core.ConfigMaps().Informer(), core.Endpoints().Informer(), core.Events().Informer(), core.LimitRanges().Informer(),
		core.Namespaces().Informer(), core.Nodes().Informer(), core.PersistentVolumeClaims().Informer(),
		core.PersistentVolumes().Informer(), core.Pods().Informer(), core.PodTemplates().Informer(),
		core.ReplicationControllers().Informer(), core.ResourceQuotas().Informer(), core.Secrets().Informer(),
		core.ServiceAccounts().Informer(), core.Services().Informer(),
		apps.ControllerRevisions().Informer(), apps.DaemonSets().Informer(), apps.Deployments().Informer(),
		apps.ReplicaSets().Informer(), apps.StatefulSets().Informer(),
		batch.CronJobs().Informer(), batch.Jobs().Informer(),
		net.IngressClasses().Informer(), net.Ingresses().Informer(), net.IPAddresses().Informer(),
		net.NetworkPolicies().Informer(), net.ServiceCIDRs().Informer(),
		rbac.ClusterRoleBindings().Informer(), rbac.ClusterRoles().Informer(), rbac.RoleBindings().Informer(),
		rbac.Roles().Informer(),
		storage.CSIDrivers().Informer(), storage.CSINodes().Informer(), storage.CSIStorageCapacities().Informer(),
		storage.StorageClasses().Informer(), storage.VolumeAttachments().Informer(),
		storage.VolumeAttributesClasses().Informer(),
		admission.MutatingWebhookConfigurations().Informer(), admission.ValidatingAdmissionPolicies().Informer(),
		admission.ValidatingAdmissionPolicyBindings().Informer(), admission.ValidatingWebhookConfigurations().Informer(),
		resource.DeviceClasses().Informer(), resource.ResourceClaims().Informer(),
		resource.ResourceClaimTemplates().Informer(), resource.ResourceSlices().Informer(),
		f.Autoscaling().V1().HorizontalPodAutoscalers().Informer(), f.Autoscaling().V2().HorizontalPodAutoscalers().Informer(),
		f.Certificates().V1().CertificateSigningRequests().Informer(), f.Coordination().V1().Leases().Informer(),
		f.Discovery().V1().EndpointSlices().Informer(), f.Events().V1().Events().Informer(),
		f.Flowcontrol().V1().FlowSchemas().Informer(), f.Flowcontrol().V1().PriorityLevelConfigurations().Informer(),
		f.Node().V1().RuntimeClasses().Informer(), f.Policy().V1().PodDisruptionBudgets().Informer(),
		f.Scheduling().V1().PriorityClasses().Informer(),
	}, func() { f.Start(ctx.Done()) })
}

// runDynamic starts an informer without Go types for each resource of the file.
func runDynamic(ctx context.Context, config *rest.Config, path string) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	var all []cache.SharedIndexInformer
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) != 6 {
			return fmt.Errorf("%s: a line with %d words instead of 6: %s", path, len(words), line)
		}
		all = append(all, factory.ForResource(
			schema.GroupVersionResource{Group: words[0], Version: words[1], Resource: words[2]}).Informer())
	}
	return syncAll(ctx, all, func() { factory.Start(ctx.Done()) })
}
