/** The command cannot be carried out before something else has ended: it is given back and tried again shortly. */
export class NotYet extends Error {
  override name = 'NotYet'
}
