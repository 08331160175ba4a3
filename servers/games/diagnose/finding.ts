/** One thing that may be wrong. */
export interface Finding {
  finding: string
  /** What shows it; text of others between quotation marks. */
  evidence: string[]
  whatToDo: string
  /** How likely it is the cause of trouble: 0 to 100; below 40 it is only worth knowing. */
  weight: number
}
