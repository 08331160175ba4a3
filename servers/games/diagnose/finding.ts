/** One thing that may be wrong. */
export interface Finding {
  finding: string
  /** Evidence of the finding; foreign text is between quotation marks. */
  evidence: string[]
  whatToDo: string
  /** Probability that it is the cause of trouble: 0 to 100; below 40 it is only worth knowing. */
  weight: number
}
