import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type DeadCode, exportsOf, findDeadCode } from './dead-code.ts'

const dead = (sources: Record<string, string>): DeadCode =>
  findDeadCode({
    files: Object.entries(sources).map(([path, source]) => ({ path, source })),
    isEntry: (path) => path.endsWith('main.ts') || path.endsWith('.test.ts'),
    isAside: (path) => path.startsWith('test/'),
  })

test('every form of an export is found', () => {
  const source = [
    'export const a = 1',
    'export async function b() {}',
    'export interface C {}',
    'export type D = C',
    'export class E {}',
    'const f = 1\nconst g = 2\nexport { f, g as h }',
    'export { i, type J } from "./k.ts"',
    'export default a',
    '// export const no = 1',
  ].join('\n')
  assert.equal(exportsOf({ path: 'a.ts', source }), ['a', 'b', 'C', 'D', 'E', 'f', 'h', 'i', 'J', 'default'])
})

test('what another file imports is alive, under whichever name and in whichever form', () => {
  const found = dead({
    'main.ts':
      "import { a, type B, c as d } from './x.ts'\nexport { e } from './y.ts'\nimport * as z from './z.ts'\nawait import('./w.ts')",
    'x.ts': 'export const a = 1\nexport type B = 1\nexport const c = 1',
    'y.ts': 'export const e = 1',
    'z.ts': 'export const f = 1',
    'w.ts': 'export const g = 1',
  })
  assert.equal(found, { files: [], exports: [] })
})

test('what its own file alone uses, nobody, or tests alone, is dead; so is a file that nobody imports', () => {
  const found = dead({
    'main.ts': "import { a } from './x.ts'",
    'x.ts': 'export const a = 1\nexport const b = a',
    'y.ts': "import { y } from './y.ts'\nexport const y = 1",
    'z.ts': 'export const z = 1\nexport interface Z {}\nexport type Y = 1',
    'test/z.test.ts': "import { type Z, z } from '../z.ts'\nimport { help } from './help.ts'",
    'test/help.ts': 'export const help = 1\nexport const more = 1',
  })
  assert.equal(found, {
    files: ['y.ts', 'z.ts'],
    exports: ['x.ts#b', 'y.ts#y', 'z.ts#z', 'z.ts#Y', 'test/help.ts#more'],
  })
})

test.run()
