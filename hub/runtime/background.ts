/** Work that goes on beside the cycles that began it, until the hub ends. */
export interface Background {
  /** Aborts when the hub ends. */
  readonly stopping: AbortSignal
  /** Keeps a run, so that the end of the hub waits for it; what it rejects with is logged. */
  add(run: Promise<void>): void
  /** Resolves when nothing of it runs any more. */
  settled(): Promise<void>
}

export function createBackground(stopping: AbortSignal, onError: (error: unknown) => void): Background {
  const running = new Set<Promise<void>>()
  return {
    stopping,
    add(run) {
      const kept = run.catch(onError).finally(() => running.delete(kept))
      running.add(kept)
    },
    async settled() {
      await Promise.all(running)
    },
  }
}
