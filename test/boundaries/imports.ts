import { dirname, join, normalize } from 'node:path/posix'
import type { SourceFile } from './project.ts'

/** One import or re-export statement, or `import()`. */
export interface Import {
  line: number
  /** As it is written. */
  specifier: string
  /** The file from the project's root, where the specifier is relative; it may not exist. */
  target?: string
  /** What is taken of it, under the names that it exports; `*` stands for everything. */
  names: readonly string[]
}

const NAMES = String.raw`[\w$*{}\s,]+?`
const STATEMENT = new RegExp(
  [
    // import … from, export … from
    String.raw`^[ \t]*(?:import|export)\s+(?:type\s+)?(?<names>${NAMES})\s+from\s*(?<quote>['"])(?<from>[^'"\n]+)\k<quote>`,
    // import 'for its effects'
    String.raw`^[ \t]*import\s*(?<quote2>['"])(?<effect>[^'"\n]+)\k<quote2>`,
    // import(), import.meta.resolve(), new URL(…, import.meta.url), require()
    String.raw`\b(?:import|require|import\.meta\.resolve)\s*\(\s*(?<quote3>['"\`])(?<call>[^'"\`\n]+)\k<quote3>`,
  ].join('|'),
  'gm',
)

/** Every import of a file, type imports included. */
export function importsOf({ path, source }: SourceFile): Import[] {
  const code = withoutComments(source)
  return [...code.matchAll(STATEMENT)].map(({ index, groups = {} }) => {
    const { names, from, effect, call } = groups
    const specifier = from ?? effect ?? call ?? ''
    return {
      line: code.slice(0, index).split('\n').length,
      specifier,
      ...(specifier.startsWith('.') && { target: normalize(join(dirname(path), specifier)) }),
      names: names !== undefined ? importedNames(names) : call !== undefined ? ['*'] : [],
    }
  })
}

/** Which files each file imports, type imports included. */
export const importGraph = (files: readonly SourceFile[]): Map<string, Set<string>> => {
  const paths = new Set(files.map(({ path }) => path))
  return new Map(
    files.map((file) => [
      file.path,
      new Set(importsOf(file).flatMap(({ target }) => (target !== undefined && paths.has(target) ? [target] : []))),
    ]),
  )
}

/** `{ a, type B, c as d }`, `* as x`, `x` and `x, { y }`: the names as the other file exports them. */
function importedNames(text: string): string[] {
  if (text.includes('*')) return ['*']
  const [, before = '', inner = ''] = /^([^{]*)(?:\{([\s\S]*)\})?$/.exec(text.trim()) ?? []
  const named = inner
    .split(',')
    .map((part) =>
      part
        .trim()
        .replace(/^type\s+/, '')
        .replace(/\s+as\s+[\w$]+$/, ''),
    )
    .filter((part) => part !== '')
  return before.replace(/,\s*$/, '').trim() === '' ? named : ['default', ...named]
}

/** Comments blanked out, their line breaks kept, so that lines still count right; strings stay as they are. */
export function withoutComments(source: string): string {
  const tokens = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`|\/\/[^\n]*|\/\*[\s\S]*?\*\//g
  return source.replace(tokens, (token) => (/^\/[/*]/.test(token) ? token.replace(/[^\n]/g, ' ') : token))
}
