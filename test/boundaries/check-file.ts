import { dirname, join, normalize } from 'node:path/posix'
import { BANS, MAY_IMPORT } from './rules.ts'

export interface Violation {
  line: number
  message: string
}

/** Import and export statements with a source, over several lines too, and `import()` / `import x = require()` / `require()`. */
const SPECIFIER = /(?:\bfrom\s*|\bimport\s*|\bimport\s*\(\s*|\brequire\s*\(\s*)(['"`])([^'"`\n]+)\1/g

/** Checks one source file; `path` is from the project's root, with forward slashes. */
export function checkFile({ path, source }: { path: string; source: string }): Violation[] {
  const code = withoutComments(source)
  const lineOf = (index: number): number => code.slice(0, index).split('\n').length
  const violations: Violation[] = []
  for (const match of code.matchAll(SPECIFIER)) {
    const message = checkImport({ path, specifier: match[2] ?? '' })
    if (message) violations.push({ line: lineOf(match.index), message })
  }
  for (const { pattern, message, appliesTo } of BANS) {
    if (!appliesTo(path)) continue
    for (const match of code.matchAll(new RegExp(pattern, 'g'))) {
      violations.push({ line: lineOf(match.index), message: `${match[0].trim()}: ${message}` })
    }
  }
  return violations.sort((a, b) => a.line - b.line)
}

const folderOf = (path: string): string => path.split('/')[0] ?? ''

function checkImport({ path, specifier }: { path: string; specifier: string }): string | undefined {
  const from = folderOf(path)
  const allowed = MAY_IMPORT[from]
  if (allowed === 'anything') return undefined
  if (allowed === undefined) return `${from}/ is no folder of the house: give it a rule`
  // The SDK is installed under its own name: to import that is to import the folder.
  if (specifier === 'ccs-sdk' || specifier.startsWith('ccs-sdk/')) {
    return from === 'sdk' ? undefined : `${from}/ must not import sdk/`
  }
  if (!specifier.startsWith('.')) return undefined
  const target = normalize(join(dirname(path), specifier))
  const to = folderOf(target)
  if (to === from || allowed.includes(to)) return undefined
  return to === '..' ? `${specifier} lies outside of the project` : `${from}/ must not import ${to}/`
}

/** Comments blanked out, their line breaks kept, so that lines still count right; strings stay as they are. */
function withoutComments(source: string): string {
  const tokens = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`|\/\/[^\n]*|\/\*[\s\S]*?\*\//g
  return source.replace(tokens, (token) => (/^\/[/*]/.test(token) ? token.replace(/[^\n]/g, ' ') : token))
}
