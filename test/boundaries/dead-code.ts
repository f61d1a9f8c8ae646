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

export interface DeadCode {
  /** Files that nobody imports. */
  files: string[]
  /** `path#name` of exports that no other file imports. */
  exports: string[]
}

/**
 * What nobody uses. `isEntry` are files that something else than an import starts or bundles; all of their exports count as used. What `isAside`
 * says (tests, benches) uses the product without being part of it: its imports count among themselves only.
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
  for (const file of files) {
    for (const { target, names } of importsOf(file)) {
      if (target === undefined || target === file.path || (isAside(file.path) && !isAside(target))) continue
      reached.add(target)
      for (const name of names) used.add(`${target}#${name}`)
    }
  }
  const dead: DeadCode = { files: [], exports: [] }
  for (const file of files) {
    if (isEntry(file.path)) continue
    if (!reached.has(file.path)) dead.files.push(file.path)
    if (used.has(`${file.path}#*`)) continue
    for (const name of exportsOf(file)) if (!used.has(`${file.path}#${name}`)) dead.exports.push(`${file.path}#${name}`)
  }
  return dead
}
