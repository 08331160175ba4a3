import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findClusters } from './find-clusters.ts'

test('the kubeconfig that is set, with its current context or those that are named', () => {
  expect(findClusters({ KUBECONFIG: '/a:/b' })).toEqual([
    { name: 'kubernetes', kubeconfig: '/a:/b', context: undefined },
  ])
  expect(findClusters({ KUBECONFIG: '/a', KUBE_CONTEXTS: 'home, cloud' })).toEqual([
    { name: 'home', kubeconfig: '/a', context: 'home' },
    { name: 'cloud', kubeconfig: '/a', context: 'cloud' },
  ])
})

test('the one of this user, else none', () => {
  const home = mkdtempSync(join(tmpdir(), 'home-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  expect(findClusters({ HOME: home })).toEqual([])
  mkdirSync(join(home, '.kube'))
  writeFileSync(join(home, '.kube/config'), '')
  expect(findClusters({ HOME: home })).toMatchObject([{ kubeconfig: join(home, '.kube/config') }])
})
