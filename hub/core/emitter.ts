/** Listeners by event name; the other listeners still run when one throws. */
export interface Emitter<Events extends Record<string, unknown>> {
  on<Name extends keyof Events>(name: Name, listener: (value: Events[Name]) => void): () => void
  emit<Name extends keyof Events>(name: Name, value: Events[Name]): void
}

/** Creates an emitter. `onError` gets what a listener threw. */
export function createEmitter<Events extends Record<string, unknown>>(
  onError: (error: unknown) => void,
): Emitter<Events> {
  const listeners = new Map<keyof Events, Set<(value: never) => void>>()
  return {
    on(name, listener) {
      const set = listeners.get(name) ?? new Set()
      listeners.set(name, set)
      set.add(listener)
      return () => set.delete(listener)
    },
    emit(name, value) {
      for (const listener of listeners.get(name) ?? []) {
        try {
          listener(value as never)
        } catch (error) {
          onError(error)
        }
      }
    },
  }
}
