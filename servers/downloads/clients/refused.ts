import { ToolFailure } from '../../kit/failure.ts'

/** The failure of something that the client does not do; `why` goes on from "Why: ", texts of others in it quoted. */
export function toRefused(title: string, address: string, why: string, fix?: string): ToolFailure {
  return new ToolFailure({
    what: `${title} refused this.`,
    where: address,
    why,
    fix: fix ?? 'Change what it complains about, then try again.',
  })
}

/** The failure of a change to a download that the client does not have any more. */
export function toGone(title: string, address: string): ToolFailure {
  return new ToolFailure({
    what: `${title} does not have this download any more.`,
    where: address,
    why: 'it finished, or somebody removed it, a moment ago',
    fix: 'Look at get_download_status and get_download_history.',
  })
}
