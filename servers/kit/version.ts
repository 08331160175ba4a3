/** The version that every server reports; a test compares it with package.json. */
export const VERSION = '0.1.0'
