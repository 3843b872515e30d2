// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"os"
	"sync"
	"time"

	rbac "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

const (
	namespacePrefix     = "recovery-"
	namespaceCount      = 5
	objectsPerNamespace = 10 // of each resource, in addition to the marker
	writePause          = 25 * time.Millisecond
	readerUser          = "kgen-reader"
)

// The resources of the twelve informers; bench/recovery_informers.cc has the same.
var resources = []schema.GroupVersionResource{
	core("configmaps"), core("secrets"), core("services"), core("pods"), core("serviceaccounts"), core("podtemplates"),
	core("replicationcontrollers"), core("limitranges"), apps("deployments"), apps("statefulsets"), apps("daemonsets"),
	{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"},
}

var kinds = map[string]string{
	"configmaps": "ConfigMap", "secrets": "Secret", "services": "Service", "pods": "Pod",
	"serviceaccounts": "ServiceAccount", "podtemplates": "PodTemplate",
	"replicationcontrollers": "ReplicationController", "limitranges": "LimitRange", "deployments": "Deployment",
	"statefulsets": "StatefulSet", "daemonsets": "DaemonSet", "leases": "Lease",
}

func core(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: resource}
}

func apps(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: resource}
}

func namespaces() (names []string) {
	for i := range namespaceCount {
		names = append(names, fmt.Sprint(namespacePrefix, i))
	}
	return names
}

// loadConfig reads the server's kubeconfig; `server` replaces the address in it, if it is not empty.
func loadConfig(kubeContext, server string) (*rest.Config, error) {
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: os.Getenv("KGEN_TEST_KUBECONFIG")},
		&clientcmd.ConfigOverrides{CurrentContext: kubeContext, ClusterInfo: api.Cluster{Server: server}}).ClientConfig()
}

// cluster is the server as the independent writers and the reader use it: bypassing the relays, as an administrator.
type cluster struct {
	config  *rest.Config
	dynamic dynamic.Interface
	typed   kubernetes.Interface

	writing sync.RWMutex // read-locked for each write, so that locking it pauses the writers
}

func openCluster() (*cluster, error) {
	config, err := loadConfig("token", "")
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	config.UserAgent = "recovery-writer"
	config.Timeout = 5 * time.Second
	c := &cluster{config: config}
	if c.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, err
	}
	c.typed, err = kubernetes.NewForConfig(config)
	return c, err
}

// prepare creates the namespaces and their objects, and grants read access to the user of the informers.
func (c *cluster) prepare(ctx context.Context) error {
	role := &rbac.ClusterRole{ObjectMeta: meta.ObjectMeta{Name: readerUser}, Rules: []rbac.PolicyRule{
		{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch"}}}}
	binding := &rbac.ClusterRoleBinding{ObjectMeta: meta.ObjectMeta{Name: readerUser},
		RoleRef:  rbac.RoleRef{APIGroup: rbac.GroupName, Kind: "ClusterRole", Name: readerUser},
		Subjects: []rbac.Subject{{APIGroup: rbac.GroupName, Kind: rbac.UserKind, Name: readerUser}}}
	if _, err := c.typed.RbacV1().ClusterRoles().Create(ctx, role, meta.CreateOptions{}); unlessThere(err) != nil {
		return err
	}
	if _, err := c.typed.RbacV1().ClusterRoleBindings().Create(ctx, binding, meta.CreateOptions{}); unlessThere(err) != nil {
		return err
	}
	for _, namespace := range namespaces() {
		object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace",
			"metadata": map[string]any{"name": namespace}}}
		if _, err := c.dynamic.Resource(core("namespaces")).Create(ctx, object, meta.CreateOptions{}); unlessThere(err) != nil {
			return err
		}
		for _, resource := range resources {
			for _, name := range append(names(), "marker") {
				if err := c.create(ctx, resource, namespace, name); unlessThere(err) != nil {
					return err
				}
			}
		}
	}
	return nil
}

func unlessThere(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func names() (all []string) {
	for i := range objectsPerNamespace {
		all = append(all, fmt.Sprint("object-", i))
	}
	return all
}

func (c *cluster) create(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) error {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": resource.GroupVersion().String(), "kind": kinds[resource.Resource],
		"metadata": map[string]any{"name": name, "namespace": namespace},
	}}
	pod := map[string]any{"containers": []any{map[string]any{"name": "a", "image": "a"}}}
	labels := map[string]any{"app": "a"}
	template := map[string]any{"metadata": map[string]any{"labels": labels}, "spec": pod}
	selector := map[string]any{"matchLabels": labels}
	switch resource.Resource {
	case "pods":
		object.Object["spec"] = pod
	case "podtemplates":
		object.Object["template"] = template
	case "services":
		object.Object["spec"] = map[string]any{"clusterIP": "None", "selector": labels}
	case "replicationcontrollers":
		object.Object["spec"] = map[string]any{"selector": labels, "template": template}
	case "limitranges":
		object.Object["spec"] = map[string]any{"limits": []any{}}
	case "deployments", "daemonsets":
		object.Object["spec"] = map[string]any{"selector": selector, "template": template}
	case "statefulsets":
		object.Object["spec"] = map[string]any{"selector": selector, "template": template, "serviceName": "a"}
	}
	_, err := c.dynamic.Resource(resource).Namespace(namespace).Create(ctx, object, meta.CreateOptions{})
	return err
}

func (c *cluster) touch(ctx context.Context, resource schema.GroupVersionResource, namespace, name, value string) error {
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"touched":%q}}}`, value)
	_, err := c.dynamic.Resource(resource).Namespace(namespace).Patch(ctx, name, types.MergePatchType, []byte(patch),
		meta.PatchOptions{})
	return err
}

// write changes, deletes and creates objects at random until the context ends. It ignores failures: the server may be
// unavailable, and the object may or may not exist.
func (c *cluster) write(ctx context.Context, seed int64) {
	random := rand.New(rand.NewSource(seed))
	for number := 0; ctx.Err() == nil; number++ {
		resource, namespace := resources[random.Intn(len(resources))], namespaces()[random.Intn(namespaceCount)]
		name := names()[random.Intn(objectsPerNamespace)]
		c.writing.RLock()
		switch random.Intn(5) {
		case 0:
			_ = c.dynamic.Resource(resource).Namespace(namespace).Delete(ctx, name, meta.DeleteOptions{})
		case 1:
			_ = c.create(ctx, resource, namespace, name)
		default:
			_ = c.touch(ctx, resource, namespace, name, fmt.Sprint(seed, "-", number))
		}
		c.writing.RUnlock()
		time.Sleep(writePause)
	}
}

// mark changes the marker in each resource and namespace. The writers pause meanwhile.
func (c *cluster) mark(ctx context.Context, value string) error {
	var work sync.WaitGroup
	errs := make([]error, len(resources))
	for i, resource := range resources {
		work.Go(func() {
			for _, namespace := range namespaces() {
				errs[i] = errors.Join(errs[i], c.touch(ctx, resource, namespace, "marker", value))
			}
		})
	}
	work.Wait()
	return errors.Join(errs...)
}

// read lists every resource.
func (c *cluster) read(ctx context.Context, client dynamic.Interface) (state, error) {
	seen := state{}
	for _, resource := range resources {
		list, err := client.Resource(resource).List(ctx, meta.ListOptions{})
		if err != nil {
			return nil, err
		}
		for _, item := range list.Items {
			if len(item.GetNamespace()) > len(namespacePrefix) && item.GetNamespace()[:len(namespacePrefix)] == namespacePrefix {
				seen[resource.Resource+" "+item.GetNamespace()+"/"+item.GetName()] = item.GetResourceVersion()
			}
		}
	}
	return seen, nil
}

// awaitAnswer returns the time at which the server at `address` (empty: bypassing the relays) responded to an
// independent reader over a separate connection: to /readyz with 200, and to a list of each resource.
func (c *cluster) awaitAnswer(ctx context.Context, address string) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	var last error
	for ctx.Err() == nil {
		if last = c.answers(ctx, address); last == nil {
			return time.Now(), nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return time.Time{}, fmt.Errorf("the server did not come back: %w", last)
}

func (c *cluster) answers(ctx context.Context, address string) error {
	config := rest.CopyConfig(c.config)
	config.UserAgent, config.Timeout = "recovery-reader", 2*time.Second
	if address != "" {
		config.Host = address
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+"/readyz", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, response.Body)
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	lists, err := dynamic.NewForConfigAndClient(config, client)
	if err != nil {
		return err
	}
	_, err = c.read(ctx, lists)
	return err
}
