/** A pod of Kubernetes. Times are unix milliseconds. */
export interface Pod {
  namespace: string
  name: string
  /** "Running", "Pending", "CrashLoopBackOff": the reason if there is one, else the phase. */
  status: string
  ready: boolean
  restarts: number
  /** Exit code of the last end of the container with the most restarts; undefined if none has ended. */
  exitCode?: number | undefined
  node: string | undefined
  startedAt: number | undefined
  labels: Readonly<Record<string, string>>
}

export interface PodUse {
  /** Per cent of one core, so it may exceed 100. */
  cpuPercent: number
  memoryBytes: number
}

/** A Deployment or a StatefulSet. */
export interface Workload {
  kind: 'deployment' | 'statefulset'
  namespace: string
  name: string
  /** Number of pods that the workload should have; the API omits it if it is 0. */
  replicas: number
  ready: number
  labels: Readonly<Record<string, string>>
  /** The label selector of its pods: "app=minecraft". */
  selector: string
}

export interface WorkloadName {
  kind: Workload['kind']
  namespace: string
  name: string
}

/** One Kubernetes API. Every call fails with UpstreamFailure, which says what to do. */
export interface Cluster {
  readonly name: string
  readonly address: string
  version(signal?: AbortSignal): Promise<string>
  pods(options: { namespace?: string; selector?: string }, signal?: AbortSignal): Promise<Pod[]>
  /** Returns the use of pods by namespace/name; undefined if the cluster has no metrics API. */
  use(namespace: string | undefined, signal?: AbortSignal): Promise<ReadonlyMap<string, PodUse> | undefined>
  logs(
    pod: { namespace: string; name: string },
    options: { tail: number },
    signal?: AbortSignal,
  ): Promise<string[]>
  workloads(options: { namespace?: string; selector?: string }, signal?: AbortSignal): Promise<Workload[]>
  workload(name: WorkloadName, signal?: AbortSignal): Promise<Workload | undefined>
  scale(name: WorkloadName, replicas: number, signal?: AbortSignal): Promise<void>
  /** Deletes the pod; its workload makes a new one. */
  deletePod(pod: { namespace: string; name: string }, signal?: AbortSignal): Promise<void>
  /** Restarts all pods of a workload one by one, as `kubectl rollout restart`. */
  restart(name: WorkloadName, signal?: AbortSignal): Promise<void>
}
