import type { Violation } from './check-file.ts'

/** What may follow `docs/<name>.md, `: the headings of each document, and the numbers of the ideas of those that number them. */
interface DocumentIndex {
  headings: readonly string[]
  ideas: number
}

/** The headings of a Markdown document, as they read without their marks, and how many ideas it numbers (`1. **Like this.**`). */
export function indexDocument(markdown: string): DocumentIndex {
  const text = markdown.replace(/^```[\s\S]*?^```$/gm, '')
  return {
    headings: [...text.matchAll(/^#{2,} +(.+)$/gm)].map(([, heading = '']) => heading.replaceAll('`', '').trim()),
    ideas: [...text.matchAll(/^\d+\. \*\*/gm)].length,
  }
}

const MENTION = /\bdocs\/([\w-]+\.md)\b(,? ?)/g

/**
 * A comment points at a document by its path and, after a comma, one of its headings (`docs/behaviour.md, Events`) or an idea
 * (`docs/architecture.md, idea 2`): the reader of a bare name would have to search. `documents` are those of `docs/`, by file name.
 */
export function checkMentions({
  source,
  documents,
}: {
  source: string
  documents: ReadonlyMap<string, DocumentIndex>
}): Violation[] {
  // A mention may go on in the comment's next line; the offsets of its characters stay.
  const text = source.replace(/\n\s*(?:\*(?!\/)|\/\/)? ?/g, (gap) => ' '.padEnd(gap.length, '\u0000'))
  return [...text.matchAll(MENTION)].flatMap(({ 0: mention, 1: name = '', 2: comma = '', index }) => {
    const line = source.slice(0, index).split('\n').length
    const document = documents.get(name)
    if (!document) return [{ line, message: `docs/${name} does not exist` }]
    const rest = text.slice(index + mention.length).replaceAll('\u0000', '')
    if (comma.startsWith(',') && isPlace(rest, document)) return []
    return [{ line, message: `docs/${name}: no heading of it, and no idea, is named by "${rest.slice(0, 30)}"` }]
  })
}

function isPlace(rest: string, { headings, ideas }: DocumentIndex): boolean {
  const idea = /^idea (\d+)/.exec(rest)
  if (idea) return Number(idea[1]) >= 1 && Number(idea[1]) <= ideas
  return headings.some((heading) => rest.startsWith(heading) && !/^\w/.test(rest.slice(heading.length)))
}

const PATH = /`([\w-]+(?:\/[\w.-]+)*\/[\w-]+(?:\.\w+)*\.(?:ts|tsx|js|css))`/g

/** Files that a document names in backticks, by their path from the project's root, have to be there. */
export const checkPaths = ({ source, paths }: { source: string; paths: ReadonlySet<string> }): Violation[] =>
  [...source.matchAll(PATH)].flatMap(({ 1: path = '', index }) =>
    paths.has(path) ? [] : [{ line: source.slice(0, index).split('\n').length, message: `${path} does not exist` }],
  )
