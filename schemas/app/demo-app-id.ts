/** Of the app of a newcomer's `npm start`; in a file of its own, since the parent of the service's processes names it and loads no database library. */
export const DEMO_APP_ID = 'demo'
