import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SettingsError } from '../env.ts'
import { findEngines } from './find-engines.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'engines-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const none = { certificates: undefined }

test('those that are set are all there are, by name', () => {
  const environment = {
    ENGINE_URL: 'unix:///run/lab.sock',
    ENGINE_NAS_URL: 'tcp://nas:2376',
    ENGINE_NAS_CERT_PATH: '/certs',
    DOCKER_HOST: 'tcp://ignored:2375',
  }
  expect(findEngines(environment)).toEqual([
    { name: 'engine', address: 'unix:///run/lab.sock', ...none },
    { name: 'nas', address: 'tcp://nas:2376', certificates: '/certs' },
  ])
})

test('DOCKER_HOST with its certificates', () => {
  const environment = { DOCKER_HOST: 'tcp://nas:2376', DOCKER_CERT_PATH: '/certs' }
  expect(findEngines(environment)[0]).toEqual({
    name: 'docker',
    address: 'tcp://nas:2376',
    certificates: '/certs',
  })
})

test('sockets below the folders of this user', () => {
  mkdirSync(join(folder, 'podman'))
  writeFileSync(join(folder, 'podman/podman.sock'), '')
  const podman = { name: 'podman', address: join(folder, 'podman/podman.sock'), ...none }
  expect(findEngines({ XDG_RUNTIME_DIR: folder })).toContainEqual(podman)
})

test('a socket that stands in for another is one engine', () => {
  mkdirSync(join(folder, 'podman'))
  writeFileSync(join(folder, 'podman/podman.sock'), '')
  symlinkSync(join(folder, 'podman/podman.sock'), join(folder, 'docker.sock'))
  const environment = { XDG_RUNTIME_DIR: folder, DOCKER_HOST: `unix://${folder}/docker.sock` }
  expect(findEngines(environment).map(({ name }) => name)).toEqual(['docker'])
})

test('what is no address is told, and not shown', () => {
  const wrong = () => findEngines({ ENGINE_NAS_URL: 'ssh://me:hunter2@nas' })
  expect(wrong).toThrow(SettingsError)
  expect(wrong).toThrow(/ENGINE_NAS_URL .*tcp:\/\/host:port/)
  expect(wrong).not.toThrow('hunter2')
})
