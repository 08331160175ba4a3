import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { useStore } from './hooks.ts'
import { reasonOf } from './mcp.ts'
import type { SectionProps } from './places.ts'

/** What was read last, and why the last reading failed. */
export interface Reading<Result> {
  value: Result | null
  error: string | undefined
  /** Reads it again. */
  read: () => Promise<void>
}

/** Reads a tool's result when the component is first shown, and again with news. */
export function useTool<Result>(
  { mcp, news }: Pick<SectionProps, 'mcp' | 'news'>,
  tool: string,
  args: Record<string, unknown> = {},
): Reading<Result> {
  const [value, setValue] = useState<Result | null>(null)
  const [error, setError] = useState<string | undefined>()
  const lastRead = useRef(0)
  const version = useStore(news)
  const asked = JSON.stringify(args)
  const read = useCallback(async () => {
    lastRead.current += 1
    const mine = lastRead.current
    const answer = await mcp.call<Result>(tool, JSON.parse(asked)).then(
      result => ({ result }),
      failure => ({ failure: reasonOf(failure) }),
    )
    if (mine !== lastRead.current) return
    if ('result' in answer) setValue(answer.result)
    setError('failure' in answer ? answer.failure : undefined)
  }, [mcp, tool, asked])
  useEffect(() => void read(), [read, version])
  return { value, error, read }
}

/**
 * Returns whether an action runs, why the last one failed, and a function that starts one at a time; it resolves to
 * whether the action succeeded.
 */
export function useAction() {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string | undefined>()
  const start = async (action: () => Promise<unknown>): Promise<boolean> => {
    if (isBusy) return false
    setBusy(true)
    const failure = await action().then(() => undefined, reasonOf)
    setError(failure)
    setBusy(false)
    return failure === undefined
  }
  return { isBusy, error, start }
}
