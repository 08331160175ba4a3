/** Bytes of the largest body that any endpoint takes. */
export const LARGEST_BODY = 1024 * 1024
