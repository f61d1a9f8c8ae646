/** Whom a text names. */
export interface Names {
  app: string
  provider: string
}

const count = (value: number, noun: string): string => `${value.toLocaleString('en')} ${noun}${value === 1 ? '' : 's'}`
const again = (app: string): string => `Return to ${app} and start again.`
/** Of a link that names no app that is known, there is none to be named. */
const againFrom = (app = 'the app'): string => `Return to ${app} and start again from there.`

/** Everything that the hosted pages say, in English; the other languages have the same shape. */
export const en = {
  language: 'en',
  direction: 'ltr' as 'ltr' | 'rtl',

  returnTo: (app: string) => `Return to ${app}`,
  needsScript: 'This page needs JavaScript to show the sign-in.',

  /** `/start`, beside what each state says. */
  start: {
    title: (provider: string) => `Connect ${provider}`,
    intro: (provider: string) => `Sign in to ${provider}`,
    introApp: (app: string) => `to connect it to ${app}`,
    screen: 'Remote browser',
    screenHelp: (provider: string) =>
      `The sign-in page of ${provider}, shown as a picture. What you type goes to it. Press F6 to leave it.`,
    foot: (provider: string) =>
      `You sign in on ${provider}’s own page. Your password is passed on to it and not kept. F6 leaves the remote screen.`,
    addressSecure: 'Secure connection to',
    addressPlain: 'You are on',
    closeWindow: 'Close this window',
    continueHere: 'Continue here',
    tryAgain: 'Try again',
    cancel: 'Cancel',
    cancelTitle: 'Cancel this sign-in?',
    cancelText: ({ app, provider }: Names) => `Your ${provider} account will not be connected to ${app}.`,
    cancelYes: 'Cancel sign-in',
    cancelNo: 'Go on',
    textToType: 'Text to type',
    textPlaceholder: 'Type here',
    send: 'Send',
    previousField: 'Previous field',
    nextField: 'Next field',
    enter: 'Enter',
    clearField: 'Clear field',
    hideText: 'Hide text',
  },

  /** The status line, and the heading and text over the screen. */
  states: {
    starting: {
      status: 'Opening a browser…',
      title: 'Opening a browser…',
      text: ({ provider }: Names) => `The page of ${provider} is here in a few seconds.`,
    },
    waiting: {
      status: 'One moment…',
      title: 'One moment…',
      text: ({ provider }: Names) => `A browser for your sign-in to ${provider} is being made ready.`,
    },
    live: { status: 'Ready to sign in', title: '', text: () => '' },
    checking: {
      status: 'Checking your sign-in…',
      title: 'Checking your sign-in…',
      text: ({ app, provider }: Names) => `Almost done: ${app} is being connected to your ${provider} account.`,
    },
    connected: {
      status: 'Connected',
      title: 'Connected',
      text: ({ app, provider }: Names) =>
        `Your ${provider} account is now connected to ${app}. You can close this page.`,
    },
    failed: {
      status: 'Not connected',
      title: 'Not connected',
      text: ({ app, provider }: Names) => `Your ${provider} account was not connected to ${app}. ${again(app)}`,
    },
  },
  connectedLeaving: ({ app, provider }: Names) =>
    `Your ${provider} account is now connected to ${app}. Taking you back…`,

  /** Why a flow waits. */
  waits: {
    queue: {
      title: 'All browsers are busy',
      text: ({ provider }: Names, place: number, minutes?: number) =>
        `You are number ${place.toLocaleString('en')}.${minutes === undefined ? '' : ` That takes about ${count(minutes, 'minute')}.`} Please keep this page open: the sign-in page of ${provider} opens by itself.`,
    },
    lost: {
      title: 'The browser was lost',
      text: ({ provider }: Names) =>
        `Another one is being opened, and you will have to sign in to ${provider} once more.`,
    },
    slow: { title: 'This takes longer than usual', text: () => 'It goes on by itself: please keep this page open.' },
    silent: { title: 'The service does not answer right now', text: () => 'Trying again…' },
    interrupted: { title: 'The connection is interrupted', text: () => 'Trying again…' },
    offline: {
      title: 'The connection is interrupted',
      text: () => 'You may be offline. What you type is kept, and sent when the connection is back.',
    },
    trouble: {
      title: 'One moment…',
      text: ({ provider }: Names) => `The sign-in page of ${provider} does not answer yet. Trying again…`,
    },
    elsewhere: {
      title: 'Open elsewhere',
      text: ({ provider }: Names) => `This sign-in to ${provider} is open in another tab or window.`,
    },
  },

  /** Why a flow ended without a connection, or cannot go on for now. */
  ends: {
    by_visitor: {
      title: 'Sign-in cancelled',
      text: ({ app, provider }: Names) => `Your ${provider} account was not connected to ${app}.`,
    },
    time_over: {
      title: 'The time is over',
      text: ({ app, provider }: Names) =>
        `The time for this sign-in is over: your ${provider} account was not connected. ${again(app)}`,
    },
    account_held: {
      title: 'Not connected',
      text: ({ app, provider }: Names) =>
        `This ${provider} account is already connected to another user of ${app}. A new link is needed to connect a different account: return to ${app} to get one.`,
    },
    provider_unreachable: {
      title: (provider: string) => `${provider} cannot be reached`,
      text: ({ app, provider }: Names) =>
        `The sign-in page of ${provider} did not answer. Try again, or return to ${app}.`,
    },
    provider_refused: {
      title: (provider: string) => `${provider} refused to open`,
      text: ({ app, provider }: Names) =>
        `${provider} did not let the sign-in page open. Try again in a moment, or return to ${app}.`,
    },
    provider_slow: {
      title: (provider: string) => `${provider} takes too long`,
      text: ({ app, provider }: Names) =>
        `The sign-in page of ${provider} did not open in time. Try again in a moment, or return to ${app}.`,
    },
    no_browser: {
      title: 'Not connected',
      text: ({ app, provider }: Names) => `The sign-in page of ${provider} could not be opened. ${again(app)}`,
    },
    not_completed: {
      title: 'Not connected',
      text: ({ app, provider }: Names) =>
        `The connection of ${provider} to ${app} could not be completed. ${again(app)}`,
    },
    by_operator: { title: 'Not connected', text: ({ app }: Names) => `This sign-in was ended. ${again(app)}` },
    deleted: {
      title: 'Not connected',
      text: ({ app }: Names) => `Your data in ${app} was deleted, and this sign-in ended with it. ${again(app)}`,
    },
    other_flow: {
      title: 'Not connected',
      text: ({ app }: Names) =>
        `Another link was opened in this browser since. Continue there, or return to ${app} and start again.`,
    },
  },

  notices: {
    restarted: ({ provider }: Names) => `The browser had to be opened anew. Please sign in once more at ${provider}.`,
    resumed: ({ provider }: Names) => `Welcome back: your sign-in to ${provider} goes on where you were.`,
    outside: ({ provider }: Names, host: string) =>
      `${host} is not part of the sign-in to ${provider}, so it was not opened.`,
    unanswered: ({ provider }: Names) => `The page of ${provider} does not answer. Please try again.`,
    no_download: ({ provider }: Names) => `Downloads are not possible during the sign-in to ${provider}.`,
    no_upload: ({ provider }: Names) => `Files cannot be chosen during the sign-in to ${provider}.`,
    too_late: ({ provider }: Names) => `Too late to cancel: your ${provider} account is being connected.`,
    not_answered: () => 'That did not work. Please try again in a moment.',
  },

  /** What is asked and said beside the remote page: its lists, its dialogs, copying, input that waits. */
  remote: {
    ok: 'OK',
    cancel: 'Cancel',
    done: 'Done',
    user: 'User name',
    password: 'Password',
    answer: 'Answer',
    choose: 'Choose',
    says: (host: string) => `${host} says`,
    leave: 'Leave this page? What you have typed may not be saved.',
    asks: (host: string) => `${host} asks for a user name and a password.`,
    copied: 'Copied.',
    notCopied: 'Your browser does not allow copying here.',
    nothingSelected: 'Nothing is selected that could be copied.',
    refused: 'Too much was typed while the connection was interrupted. The last of it was not kept.',
    lostInput: 'What you typed while the connection was interrupted has not arrived. Please type it again.',
  },

  /** An error of a link, for the person who opened it. */
  links: {
    title: 'Not connected',
    usedTitle: 'Link already used',
    expiredTitle: 'Link expired',
    wrongTitle: 'Link not valid',
    problem: () => 'Something went wrong on our side. Please try again in a moment.',
    used: (app?: string) => `This link has already been used. ${againFrom(app)}`,
    purpose: (app?: string) => `This link is for something else. ${againFrom(app)}`,
    provider: (app?: string) =>
      `${app ?? 'The app'} asked for an assistant that cannot be connected here. ${againFrom(app)}`,
    scope: (app?: string) => `${app ?? 'The app'} asked for something that is not allowed. ${againFrom(app)}`,
    stale: (app?: string) => `This did not come from the page as it is now. ${againFrom(app)}`,
    expired: (app?: string) => `This link has expired. ${againFrom(app)}`,
    wrong: (app?: string) => `This link is not valid. ${againFrom(app)}`,
    none: () => `This page opens from a link of the app that you are connecting. ${againFrom()}`,
  },

  /** `/manage` */
  manage: {
    title: 'Your data',
    heading: (app: string) => `Your data in ${app}`,
    lead: (app: string) => `The assistants that you connected to ${app}, and what was imported from them.`,
    nothingTitle: 'Nothing is connected',
    nothing: (app: string) => `You have not connected an assistant to ${app}, so nothing of yours is kept here.`,
    status: { active: 'Connected', needs_reauth: 'Sign-in needed', revoked: 'Disconnected' },
    account: 'Account',
    conversations: 'Conversations',
    lastSync: 'Last sync',
    connectedOn: 'Connected on',
    never: 'Never',
    notYet: 'Not yet',
    signInAgain: ({ app, provider }: Names) =>
      `${provider} asks for a new sign-in. Connect again from ${app} to go on importing; what was imported stays.`,
    importing: (stored: number, most: number) =>
      `Importing your history: ${stored.toLocaleString('en')} of about ${count(most, 'conversation')}`,
    imported: (stored: number, most: number) =>
      `Imported so far: ${stored.toLocaleString('en')} of about ${count(most, 'conversation')}`,
    importedLabel: 'History imported',
    firstImportRuns: 'Your history is being imported for the first time; more will appear here.',
    importRuns: 'Your history is being imported; more will appear here.',
    importBegins: 'The first import begins within a minute.',
    deleteTitle: 'Delete all data',
    deleteText: 'Deletes every imported conversation and disconnects every assistant above. You are asked once more.',
    deleteAll: 'Delete all my data…',
    nothingLeftTitle: 'Nothing is left to delete',
    nothingLeft: 'No conversation and no sign-in of yours is kept here.',
    confirmTitle: 'Delete all your data?',
    confirmPageTitle: 'Delete all your data',
    countConversations: (value: number) => count(value, 'conversation'),
    countConnections: (value: number) => count(value, 'connection'),
    confirmText: <T>(conversations: T, connections: T): (T | string)[] => [
      conversations,
      ' and their files from ',
      connections,
      ' are deleted at once, and so are the sign-ins that they were imported with. ',
    ],
    noUndo: 'This cannot be undone.',
    appIsTold: (app: string) => `${app} is told about the deletion. `,
    copies: (app: string) => `Copies that ${app} made elsewhere are not reached from here.`,
    accountStays: (providers: string) => `Your account at ${providers} stays as it is.`,
    keep: 'Keep my data',
    deleteEverything: 'Delete everything',
    deletedTitle: 'Everything was deleted',
    deletedBefore: 'Nothing was left: it had been deleted before.',
    deletedText: <T>(conversations: T, connections: T, at: T): (T | string)[] => [
      conversations,
      ' and ',
      connections,
      ' were deleted on ',
      at,
      '.',
    ],
    mayClose: (app: string) => `You can close this page. To use an assistant with ${app} again, connect it from there.`,
    deletingTitle: 'Deleting your data',
    deleting: 'Deleting your data…',
    deletingText: 'This page shows when it is done. You may close it: the deletion goes on.',
    staleTitle: 'Nothing was deleted',
    stale: 'The confirmation did not come from this page as it is now: another link may have been opened since.',
    seeData: 'See your data',
    unavailable: 'Not available right now',
    notShown: 'This page cannot be shown',
    noLink: 'This page opens from a link of the app that you connected. Return to the app to get one.',
  },
}

export type Texts = typeof en
