import { createPickers } from './pickers.ts'
import { createPlaces } from './places.ts'
import { createTextFields } from './text-fields.ts'
import { watchFields } from './watch.ts'

/**
 * What the farm runs in an isolated world of every page. The functions are handed over as their text, so each knows nothing but what it is
 * given; a second run in the same document does nothing. `__name` is what a compiler may have put around their inner functions.
 */
export const IN_PAGE_SOURCE = `if (!globalThis.farmTools) {
  const __name = (inner) => inner
  const places = (${createPlaces})()
  const textFields = (${createTextFields})(places)
  const pickers = (${createPickers})(places)
  ;(${watchFields})({ places, textFields, pickers })
}`
