/** Clients for which the hub knows what to paste. */
export const CLIENTS = ['claude-desktop', 'claude-code', 'cursor', 'vscode'] as const
export type Client = (typeof CLIENTS)[number]
