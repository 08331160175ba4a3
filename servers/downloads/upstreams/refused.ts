import { ToolFailure } from '../../kit/failure.ts'

/**
 * Creates the failure of a refused change; `why` follows "Why: ", with texts by others in quotation marks.
 */
export function toRefused(title: string, address: string, why: string, fix?: string): ToolFailure {
  return new ToolFailure({
    what: `${title} refused this.`,
    where: address,
    why,
    fix: fix ?? 'Change what it complains about, then try again.',
  })
}

/** Creates the failure of a change to a download that the client no longer has. */
export function toGone(title: string, address: string): ToolFailure {
  return new ToolFailure({
    what: `${title} does not have this download any more.`,
    where: address,
    why: 'it finished, or somebody removed it, a moment ago',
    fix: 'Look at get_download_status and get_download_history.',
  })
}
