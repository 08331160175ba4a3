/** Work that goes on beside the cycles that began it, until the hub ends. */
export interface Background {
  /** Aborts when the hub ends. */
  readonly stopping: AbortSignal
  /** Adds a run, so that the end of the hub waits for it; an error of the run is logged. */
  add(run: Promise<void>): void
  /** Resolves when no run is left. */
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
