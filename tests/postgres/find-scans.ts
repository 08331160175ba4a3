/** A node of a plan, as PostgreSQL explains it in JSON. */
export interface Plan {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  Plans?: Plan[]
}

/** Facts by which scans are judged. */
export interface Judged {
  /** Tables of which no statement may read all rows. */
  growing: readonly string[]
  /** Indexes that hold only the few rows of which there is something to do: to read them whole is their purpose. */
  partial: ReadonlySet<string>
}

/**
 * Finds what reads a whole table: a sequential scan, or all of an index of all rows. Below a limit an index is
 * read in its order, and only as far as needed.
 */
export function findScans(plan: Plan, judged: Judged, isLimited = false): string[] {
  const { growing, partial } = judged
  const kind = plan['Node Type']
  const table = plan['Relation Name']
  const index = plan['Index Name']
  const limited = kind === 'Limit' || (isLimited && STREAMS.test(kind))
  const isWhole =
    kind === 'Seq Scan' ||
    (/Index/.test(kind) &&
      index !== undefined &&
      plan['Index Cond'] === undefined &&
      !partial.has(index) &&
      !isLimited)
  const found =
    isWhole && (table === undefined || growing.includes(table)) ? [`${kind} on ${table ?? index}`] : []
  return [...found, ...(plan.Plans ?? []).flatMap(each => findScans(each, judged, limited))]
}

/** Nodes that ask the nodes below them for no more rows than they are asked for. */
const STREAMS =
  /^(?:Result|Append|Merge Append|Nested Loop|Subquery Scan|LockRows|Incremental Sort|Unique|Index|Memoize)/
