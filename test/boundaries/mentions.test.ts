import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { checkMentions, checkPaths, indexDocument } from './mentions.ts'

const page = ['# Title', '## One thing', '### `x` y', '```sh', '## no heading', '```', '1. **I.**', '2. **J.**'].join(
  '\n',
)
const documents = new Map([['a.md', indexDocument(page)]])
const linesOf = (source: string): number[] => checkMentions({ source, documents }).map(({ line }) => line)

test('a mention that names a heading or an idea passes, over two lines of a comment too', () => {
  for (const source of [
    '/** docs/a.md, One thing: why */',
    '// (docs/a.md, x y)',
    '/** docs/a.md, One\n * thing. */',
    '/** (docs/a.md,\n * One thing) */',
    '// docs/a.md, idea 2',
  ]) {
    assert.equal(linesOf(source), [], source)
  }
})

test('every other mention is found, with its line', () => {
  for (const source of [
    'docs/a.md',
    'docs/a.md, Two',
    'docs/a.md, One things',
    'docs/a.md, idea 3',
    'docs/a.md, no heading',
    'docs/b.md, One thing',
  ]) {
    assert.equal(linesOf(`\n// ${source}`), [2], source)
  }
})

test('files that a document names are there', () => {
  const paths = new Set(['core/clock.ts'])
  assert.equal(
    checkPaths({ source: '`core/clock.ts`, `core/`, `ccs-sdk`, `npm start`, `connections/:id/sync`', paths }),
    [],
  )
  assert.equal(checkPaths({ source: 'one\n`core/gone.ts`', paths }), [
    { line: 2, message: 'core/gone.ts does not exist' },
  ])
})

test.run()
