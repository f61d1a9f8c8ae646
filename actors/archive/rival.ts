import { isDuplicate } from '../../schemas/database.ts'

/** Waits for an unordered bulk write. True where some of it was there already: a rival wrote the same. Throws what else went wrong. */
export async function isRivalled(writing: Promise<unknown>): Promise<boolean> {
  try {
    await writing
    return false
  } catch (error) {
    const errors =
      typeof error === 'object' && error !== null && 'writeErrors' in error ? [error.writeErrors].flat() : []
    if (errors.length === 0 || !errors.every(isDuplicate)) throw error
    return true
  }
}
