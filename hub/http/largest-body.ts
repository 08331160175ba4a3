/** The largest body that any door takes, bytes. */
export const LARGEST_BODY = 1024 * 1024
