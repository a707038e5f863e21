/**
 * Which packages are here: for what a case requires, and for the versions that a manifest records.
 */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readJson } from '../../files.ts'
import type { JsonObject } from '../../json.ts'

/** The package.json of an installed package as seen from a file, or null. */
function manifestPath(name: string, from: string | URL): string | null {
  const folders = createRequire(from).resolve.paths(name) ?? []
  return (
    folders.map((folder) => join(folder, name, 'package.json')).find((path) => existsSync(path)) ??
    null
  )
}

/** The first of the packages that the working folder cannot reach, or null. */
export function missingPackage(names: readonly string[]): string | null {
  return (
    names.find((name) => manifestPath(name, join(process.cwd(), 'from-here.js')) === null) ?? null
  )
}

/**
 * Versions of what a trial's end may depend on; `packages` are those that speak to the run's
 * providers. The texts of errors that models read come from the MCP SDK.
 */
export function versions(packages: readonly string[] = []): { [name: string]: string } {
  const of = (name: string) => {
    const path = manifestPath(name, import.meta.url)
    return path === null ? 'unknown' : versionIn(path)
  }
  return {
    touchstone: ownVersion(),
    node: process.version.slice(1),
    ai: of('ai'),
    '@modelcontextprotocol/sdk': of('@modelcontextprotocol/sdk'),
    ...Object.fromEntries(packages.map((name) => [name, of(name)])),
  }
}

/** Our own version: that of the nearest package.json above this file. */
export function ownVersion(): string {
  for (let at = new URL('.', import.meta.url); ; at = new URL('..', at)) {
    const path = fileURLToPath(new URL('package.json', at))
    if (existsSync(path)) return versionIn(path)
    if (at.pathname === '/') return 'unknown'
  }
}

function versionIn(path: string): string {
  return String((readJson(path) as JsonObject)['version'])
}
