/** The version that every server names; a test holds it to package.json. */
export const VERSION = '0.1.0'
