import type { FieldSetting } from './setting-fields.ts'

/** A known program with an MCP server. `{key}` in its texts stands for what was typed; an empty argument is left out. */
export interface Preset {
  name: string
  title: string
  about: string
  docs: string
  settings: readonly FieldSetting[]
  entry:
    | { command: string; args: readonly string[]; env?: Record<string, string> }
    | { url: string; headers: Record<string, string> }
}

const NPX = 'It needs Node.js with npx where the hub runs.'
const UVX = 'It needs uv (uvx) where the hub runs.'
const VERIFY = 'false where it has one that it made itself.'

export const PRESETS: readonly Preset[] = [
  {
    name: 'home-assistant',
    title: 'Home Assistant',
    about:
      "Home Assistant's own MCP server: add the integration “Model Context Protocol Server” there first.",
    docs: 'https://www.home-assistant.io/integrations/mcp_server/',
    settings: [
      { key: 'url', label: 'Address of Home Assistant', initial: 'http://homeassistant.local:8123' },
      {
        key: 'token',
        label: 'Long-lived access token',
        where: 'In Home Assistant: your profile, Security, Long-lived access tokens.',
        isSecret: true,
      },
    ],
    entry: { url: '{url}/api/mcp', headers: { Authorization: 'Bearer {token}' } },
  },
  {
    name: 'proxmox',
    title: 'Proxmox VE',
    about: `Nodes, virtual machines and containers of Proxmox VE. ${UVX}`,
    docs: 'https://github.com/RekklesNA/ProxmoxMCP-Plus',
    settings: [
      { key: 'host', label: 'Host of Proxmox, without https://', initial: '192.168.1.10' },
      { key: 'user', label: 'User with realm', initial: 'mcp@pve' },
      {
        key: 'tokenName',
        label: 'Name of the API token',
        where: 'In Proxmox: Datacenter, Permissions, API Tokens, Add. What stands behind the ! of its id.',
      },
      {
        key: 'token',
        label: 'Secret of the API token',
        where: 'It is shown once, when the token is added.',
        isSecret: true,
      },
      { key: 'verify', label: 'Check its certificate (true or false)', where: VERIFY, initial: 'true' },
    ],
    entry: {
      command: 'uvx',
      args: ['proxmox-mcp-plus'],
      env: {
        PROXMOX_HOST: '{host}',
        PROXMOX_USER: '{user}',
        PROXMOX_TOKEN_NAME: '{tokenName}',
        PROXMOX_TOKEN_VALUE: '{token}',
        PROXMOX_VERIFY_SSL: '{verify}',
      },
    },
  },
  {
    name: 'grafana',
    title: 'Grafana',
    about: `Dashboards, data sources and alerts of Grafana. ${UVX}`,
    docs: 'https://github.com/grafana/mcp-grafana',
    settings: [
      { key: 'url', label: 'Address of Grafana', initial: 'http://localhost:3000' },
      {
        key: 'token',
        label: 'Service account token',
        where: 'In Grafana: Administration, Users and access, Service accounts, Add token.',
        isSecret: true,
      },
    ],
    entry: {
      command: 'uvx',
      args: ['mcp-grafana'],
      env: { GRAFANA_URL: '{url}', GRAFANA_SERVICE_ACCOUNT_TOKEN: '{token}' },
    },
  },
  {
    name: 'unifi',
    title: 'UniFi Network',
    about: `Clients, devices and networks of a UniFi controller. ${UVX}`,
    docs: 'https://github.com/sirkirby/unifi-mcp',
    settings: [
      { key: 'host', label: 'Host of the controller', initial: '192.168.1.1' },
      {
        key: 'user',
        label: 'Local user',
        where: 'In UniFi: Settings, Admins & Users; a local one, without two factors.',
      },
      { key: 'password', label: 'Password', isSecret: true },
    ],
    entry: {
      command: 'uvx',
      args: ['unifi-network-mcp'],
      env: {
        UNIFI_NETWORK_HOST: '{host}',
        UNIFI_NETWORK_USERNAME: '{user}',
        UNIFI_NETWORK_PASSWORD: '{password}',
      },
    },
  },
  {
    name: 'truenas',
    title: 'TrueNAS',
    about: `Pools, datasets, shares and snapshots of TrueNAS. ${UVX}`,
    docs: 'https://github.com/vespo92/TrueNasCoreMCP',
    settings: [
      { key: 'url', label: 'Address of TrueNAS', initial: 'https://truenas.local' },
      { key: 'token', label: 'API key', where: 'In TrueNAS: Settings, API Keys, Add.', isSecret: true },
      { key: 'verify', label: 'Check its certificate (true or false)', where: VERIFY, initial: 'true' },
    ],
    entry: {
      command: 'uvx',
      args: ['truenas-mcp-server'],
      env: { TRUENAS_URL: '{url}', TRUENAS_API_KEY: '{token}', TRUENAS_VERIFY_SSL: '{verify}' },
    },
  },
  {
    name: 'unraid',
    title: 'Unraid',
    about: `Array, disks, containers and machines of Unraid. ${UVX}`,
    docs: 'https://github.com/jmagar/unraid-mcp',
    settings: [
      { key: 'url', label: 'Address of its API, with /graphql', initial: 'https://tower.local/graphql' },
      {
        key: 'token',
        label: 'API key',
        where: 'In Unraid: Settings, Management Access, API Keys.',
        isSecret: true,
      },
    ],
    entry: {
      command: 'uvx',
      args: ['--from', 'unraid-mcp', 'unraid-mcp-server'],
      env: { UNRAID_API_URL: '{url}', UNRAID_API_KEY: '{token}', UNRAID_MCP_TRANSPORT: 'stdio' },
    },
  },
  {
    name: 'paperless',
    title: 'Paperless-ngx',
    about: `Documents, tags and correspondents of Paperless-ngx. ${NPX}`,
    docs: 'https://github.com/baruchiro/paperless-mcp',
    settings: [
      { key: 'url', label: 'Address of Paperless', initial: 'http://localhost:8000' },
      {
        key: 'token',
        label: 'API token',
        where: 'In Paperless: your name, My Profile, the round arrow.',
        isSecret: true,
      },
    ],
    entry: {
      command: 'npx',
      args: ['-y', '@baruchiro/paperless-mcp'],
      env: { PAPERLESS_URL: '{url}', PAPERLESS_API_KEY: '{token}' },
    },
  },
  {
    name: 'kubernetes',
    title: 'Kubernetes',
    about: `Pods, deployments and logs of a cluster. ${NPX}`,
    docs: 'https://github.com/containers/kubernetes-mcp-server',
    settings: [
      {
        key: 'kubeconfig',
        label: 'Path of the kubeconfig',
        where: 'On the machine of the hub.',
        initial: '/root/.kube/config',
      },
    ],
    entry: { command: 'npx', args: ['-y', 'kubernetes-mcp-server', '--kubeconfig', '{kubeconfig}'] },
  },
  {
    name: 'github',
    title: 'GitHub',
    about: "Repositories, issues and pull requests, by GitHub's own server in the net.",
    docs: 'https://github.com/github/github-mcp-server',
    settings: [
      {
        key: 'token',
        label: 'Personal access token',
        where: 'On GitHub: Settings, Developer settings, Personal access tokens.',
        isSecret: true,
      },
    ],
    entry: { url: 'https://api.githubcopilot.com/mcp/', headers: { Authorization: 'Bearer {token}' } },
  },
  {
    name: 'filesystem',
    title: 'Files of a folder',
    about: `Reads and writes the files below one folder. ${NPX}`,
    docs: 'https://www.npmjs.com/package/@modelcontextprotocol/server-filesystem',
    settings: [{ key: 'folder', label: 'Folder', where: 'On the machine of the hub.', initial: '/srv' }],
    entry: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '{folder}'] },
  },
]

/** Returns the JSON that adds a known program with what a person typed. */
export function toPasted({ name, entry }: Preset, typed: Readonly<Record<string, string>>): string {
  const fill = (text: string) =>
    text.replace(/\{(\w+)\}/g, (_whole, key) => (typed[key] ?? '').trim().replace(/\/+$/, ''))
  const fillAll = (texts: Record<string, string>) =>
    Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, fill(text)]))
  const filled =
    'url' in entry
      ? { url: fill(entry.url), headers: fillAll(entry.headers) }
      : { command: entry.command, args: entry.args.map(fill), ...(entry.env && { env: fillAll(entry.env) }) }
  return JSON.stringify({ mcpServers: { [name]: filled } })
}
