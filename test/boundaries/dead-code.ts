import { importsOf, withoutComments } from './imports.ts'
import type { SourceFile } from './project.ts'

const DECLARED =
  /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\*?|const|let|class|interface|type|enum)\s+([\w$]+)/gm
const LISTED = /^export\s+(?:type\s+)?\{([^}]*)\}/gm

/** The names that a file exports. */
export function exportsOf({ source }: SourceFile): string[] {
  const code = withoutComments(source)
  const declared = [...code.matchAll(DECLARED)].map(([, name = '']) => name)
  const listed = [...code.matchAll(LISTED)].flatMap(([, names = '']) =>
    names
      .split(',')
      .map((name) =>
        name
          .trim()
          .replace(/^type\s+/, '')
          .replace(/^.*\sas\s+/, ''),
      )
      .filter((name) => name !== ''),
  )
  const byDefault = /^export\s+default\b/m.test(code) ? ['default'] : []
  // An overloaded function is declared several times.
  return [...new Set([...declared, ...listed, ...byDefault])]
}

const TYPES = /^export\s+(?:interface|type)\s+([\w$]+)/gm
const typesOf = ({ source }: SourceFile): string[] => [...source.matchAll(TYPES)].map(([, name = '']) => name)

export interface DeadCode {
  /** Files that nobody imports. */
  files: string[]
  /** `path#name` of exports that no other file imports. */
  exports: string[]
}

/**
 * What nobody uses. `isEntry` are files that something else than an import starts or bundles; all of their exports count as used. What `isAside`
 * says (tests, benches) uses the product without being part of it: its imports count among themselves only, but for those of a type:
 * who calls a function has to name what it takes.
 */
export function findDeadCode({
  files,
  isEntry,
  isAside,
}: {
  files: readonly SourceFile[]
  isEntry: (path: string) => boolean
  isAside: (path: string) => boolean
}): DeadCode {
  const reached = new Set<string>()
  const used = new Set<string>()
  const named = new Set<string>()
  for (const file of files) {
    for (const { target, names } of importsOf(file)) {
      if (target === undefined || target === file.path) continue
      const fromAside = isAside(file.path) && !isAside(target)
      if (!fromAside) reached.add(target)
      for (const name of names) (fromAside ? named : used).add(`${target}#${name}`)
    }
  }
  const dead: DeadCode = { files: [], exports: [] }
  for (const file of files) {
    if (isEntry(file.path)) continue
    if (!reached.has(file.path)) dead.files.push(file.path)
    if (used.has(`${file.path}#*`)) continue
    const types = new Set(typesOf(file))
    for (const name of exportsOf(file)) {
      const key = `${file.path}#${name}`
      if (!used.has(key) && !(types.has(name) && named.has(key))) dead.exports.push(key)
    }
  }
  return dead
}
