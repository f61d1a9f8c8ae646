import { dirname } from 'node:path/posix'
import { type Import, importsOf, withoutComments } from './imports.ts'
import type { SourceFile } from './project.ts'
import { BANS, FOLDERS, type Folder, OUTSIDE } from './rules.ts'

export interface Violation {
  line: number
  message: string
}

/** Checks what one source file imports and calls. */
export function checkFile(file: SourceFile): Violation[] {
  const { path } = file
  const violations: Violation[] = importsOf(file).flatMap((each) => {
    const message = checkImport({ path, ...each })
    return message ? [{ line: each.line, message }] : []
  })
  const code = withoutComments(file.source)
  for (const { pattern, message, appliesTo } of BANS) {
    if (!appliesTo(path)) continue
    for (const match of code.matchAll(new RegExp(pattern, 'g'))) {
      const line = code.slice(0, match.index).split('\n').length
      violations.push({ line, message: `${match[0].trim()}: ${message}` })
    }
  }
  return violations.sort((a, b) => a.line - b.line)
}

const isWithin = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`)

/** The innermost folder with a rule, and those around it. */
function rulesOf(path: string): { name: string; rules: Folder[] } | undefined {
  const names = Object.keys(FOLDERS).filter((name) => isWithin(dirname(path), name))
  const name = names.sort((a, b) => a.length - b.length).at(-1)
  return name === undefined ? undefined : { name, rules: names.map((each) => FOLDERS[each] as Folder) }
}

function checkImport({ path, specifier, target }: { path: string } & Import): string | undefined {
  const [top = ''] = path.split('/')
  if (OUTSIDE.includes(top)) return undefined
  const found = rulesOf(path)
  if (!found) return `${top}/ is no folder of the house: give it a rule`
  const { name, rules } = found
  // The SDK is installed under its own name: to import that is to import the folder.
  if (isWithin(specifier, 'ccs-sdk')) return top === 'sdk' ? undefined : `${name}/ must not import sdk/`
  if (target === undefined) {
    const packages = rules.findLast((rule) => rule.packages)?.packages
    return packages && !packages.includes(specifier) ? `${name}/ must not import ${specifier}` : undefined
  }
  if (target.startsWith('..')) return `${specifier} lies outside of the project`
  const to = rulesOf(target)?.name ?? target.split('/')[0]
  if (to === name) return undefined
  // Of the folder that it is part of a folder may import what its own rule names; of the rest of the house what any of its rules does.
  const counting = target.startsWith(`${top}/`) ? rules.slice(-1) : rules
  const allowed = counting.some(({ mayImport }) => mayImport.some((place) => isWithin(target, place)))
  return allowed ? undefined : `${name}/ must not import ${to === top ? target : `${to}/`}`
}

/** Folders with parts of their own: every folder in them has a rule. Assets and test data of a part belong to it. */
export function checkPlace({ path }: SourceFile): Violation[] {
  const found = rulesOf(path)
  const [top = ''] = path.split('/')
  if (!found || found.name !== top || dirname(path) === top) return []
  const hasParts = Object.keys(FOLDERS).some((name) => name.startsWith(`${top}/`))
  return hasParts ? [{ line: 1, message: `${dirname(path)}/ is no folder of the house: give it a rule` }] : []
}
