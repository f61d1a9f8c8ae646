import type { Texts } from './en.ts'

const number = (value: number): string => value.toLocaleString('de')
const count = (value: number, one: string, many: string): string => `${number(value)} ${value === 1 ? one : many}`
const conversations = (value: number): string => count(value, 'Unterhaltung', 'Unterhaltungen')
const again = (app: string): string => `Kehren Sie zu ${app} zurück und beginnen Sie von vorn.`
const againFrom = (app?: string): string =>
  `Kehren Sie ${app === undefined ? 'zur App' : `zu ${app}`} zurück und beginnen Sie dort von vorn.`

export const de: Texts = {
  language: 'de',
  direction: 'ltr',

  returnTo: (app) => `Zurück zu ${app}`,
  needsScript: 'Diese Seite braucht JavaScript, um die Anmeldung zu zeigen.',

  start: {
    title: (provider) => `${provider} verbinden`,
    intro: (provider) => `Bei ${provider} anmelden`,
    introApp: (app) => `und mit ${app} verbinden`,
    screen: 'Remote browser',
    screenHelp: (provider) =>
      `Die Anmeldeseite von ${provider}, als Bild gezeigt. Was Sie tippen, geht an sie. Mit F6 verlassen Sie sie.`,
    foot: (provider) =>
      `Sie melden sich auf der Seite von ${provider} selbst an. Ihr Passwort wird an sie weitergegeben und nicht behalten. F6 verlässt den entfernten Bildschirm.`,
    addressSecure: 'Sichere Verbindung zu',
    addressPlain: 'Sie sind auf',
    closeWindow: 'Dieses Fenster schließen',
    continueHere: 'Hier weitermachen',
    tryAgain: 'Noch einmal versuchen',
    cancel: 'Abbrechen',
    cancelTitle: 'Diese Anmeldung abbrechen?',
    cancelText: ({ app, provider }) => `Ihr Konto bei ${provider} wird nicht mit ${app} verbunden.`,
    cancelYes: 'Anmeldung abbrechen',
    cancelNo: 'Weitermachen',
    textToType: 'Text zum Eintippen',
    textPlaceholder: 'Hier tippen',
    send: 'Senden',
    previousField: 'Voriges Feld',
    nextField: 'Nächstes Feld',
    enter: 'Eingabe',
    clearField: 'Feld leeren',
    hideText: 'Verbergen',
  },

  states: {
    starting: {
      status: 'Browser wird geöffnet…',
      title: 'Browser wird geöffnet…',
      text: ({ provider }) => `In wenigen Sekunden ist die Seite von ${provider} da.`,
    },
    waiting: {
      status: 'Einen Moment…',
      title: 'Einen Moment…',
      text: ({ provider }) => `Ein Browser für Ihre Anmeldung bei ${provider} wird vorbereitet.`,
    },
    live: { status: 'Bereit zur Anmeldung', title: '', text: () => '' },
    checking: {
      status: 'Anmeldung wird geprüft…',
      title: 'Anmeldung wird geprüft…',
      text: ({ app, provider }) => `Fast geschafft: Ihr Konto bei ${provider} wird mit ${app} verbunden.`,
    },
    connected: {
      status: 'Verbunden',
      title: 'Verbunden',
      text: ({ app, provider }) =>
        `Ihr Konto bei ${provider} ist jetzt mit ${app} verbunden. Sie können diese Seite schließen.`,
    },
    failed: {
      status: 'Nicht verbunden',
      title: 'Nicht verbunden',
      text: ({ app, provider }) => `Ihr Konto bei ${provider} wurde nicht mit ${app} verbunden. ${again(app)}`,
    },
  },
  connectedLeaving: ({ app, provider }) =>
    `Ihr Konto bei ${provider} ist jetzt mit ${app} verbunden. Es geht gleich zurück…`,

  waits: {
    queue: {
      title: 'Alle Browser sind vergeben',
      text: ({ provider }, place, minutes) =>
        `Sie sind Nummer ${number(place)}.${minutes === undefined ? '' : ` Das dauert etwa ${count(minutes, 'Minute', 'Minuten')}.`} Bitte lassen Sie diese Seite offen: Die Anmeldeseite von ${provider} öffnet sich von selbst.`,
    },
    lost: {
      title: 'Der Browser ging verloren',
      text: ({ provider }) => `Ein anderer wird geöffnet. Sie müssen sich dann noch einmal bei ${provider} anmelden.`,
    },
    slow: {
      title: 'Das dauert länger als sonst',
      text: () => 'Es geht von selbst weiter: Bitte lassen Sie diese Seite offen.',
    },
    silent: { title: 'Der Dienst antwortet gerade nicht', text: () => 'Es wird weiter versucht…' },
    interrupted: { title: 'Die Verbindung ist unterbrochen', text: () => 'Es wird weiter versucht…' },
    offline: {
      title: 'Die Verbindung ist unterbrochen',
      text: () =>
        'Vielleicht sind Sie offline. Was Sie eingeben, wird behalten und gesendet, sobald die Verbindung wieder da ist.',
    },
    trouble: {
      title: 'Einen Moment…',
      text: ({ provider }) => `Die Anmeldeseite von ${provider} antwortet noch nicht. Es wird weiter versucht…`,
    },
    elsewhere: {
      title: 'Anderswo geöffnet',
      text: ({ provider }) => `Diese Anmeldung bei ${provider} ist in einem anderen Tab oder Fenster offen.`,
    },
  },

  ends: {
    by_visitor: {
      title: 'Anmeldung abgebrochen',
      text: ({ app, provider }) => `Ihr Konto bei ${provider} wurde nicht mit ${app} verbunden.`,
    },
    time_over: {
      title: 'Die Zeit ist um',
      text: ({ app, provider }) =>
        `Die Zeit für diese Anmeldung ist um: Ihr Konto bei ${provider} wurde nicht verbunden. ${again(app)}`,
    },
    account_held: {
      title: 'Nicht verbunden',
      text: ({ app, provider }) =>
        `Dieses Konto bei ${provider} ist schon mit einem anderen Nutzer von ${app} verbunden. Für ein anderes Konto brauchen Sie einen neuen Link: Kehren Sie dafür zu ${app} zurück.`,
    },
    provider_unreachable: {
      title: (provider) => `${provider} ist nicht erreichbar`,
      text: ({ app, provider }) =>
        `Die Anmeldeseite von ${provider} hat nicht geantwortet. Versuchen Sie es noch einmal, oder kehren Sie zu ${app} zurück.`,
    },
    provider_refused: {
      title: (provider) => `${provider} lässt sich nicht öffnen`,
      text: ({ app, provider }) =>
        `${provider} hat die Anmeldeseite nicht geöffnet. Versuchen Sie es gleich noch einmal, oder kehren Sie zu ${app} zurück.`,
    },
    provider_slow: {
      title: (provider) => `${provider} braucht zu lange`,
      text: ({ app, provider }) =>
        `Die Anmeldeseite von ${provider} hat sich nicht rechtzeitig geöffnet. Versuchen Sie es gleich noch einmal, oder kehren Sie zu ${app} zurück.`,
    },
    no_browser: {
      title: 'Nicht verbunden',
      text: ({ app, provider }) => `Die Anmeldeseite von ${provider} ließ sich nicht öffnen. ${again(app)}`,
    },
    not_completed: {
      title: 'Nicht verbunden',
      text: ({ app, provider }) => `Die Verbindung von ${provider} mit ${app} kam nicht zustande. ${again(app)}`,
    },
    by_operator: { title: 'Nicht verbunden', text: ({ app }) => `Diese Anmeldung wurde beendet. ${again(app)}` },
    deleted: {
      title: 'Nicht verbunden',
      text: ({ app }) => `Ihre Daten in ${app} wurden gelöscht, und diese Anmeldung endete damit. ${again(app)}`,
    },
    other_flow: {
      title: 'Nicht verbunden',
      text: ({ app }) =>
        `In diesem Browser wurde inzwischen ein anderer Link geöffnet. Machen Sie dort weiter, oder kehren Sie zu ${app} zurück und beginnen Sie von vorn.`,
    },
  },

  notices: {
    restarted: ({ provider }) =>
      `Der Browser musste neu geöffnet werden. Bitte melden Sie sich noch einmal bei ${provider} an.`,
    resumed: ({ provider }) => `Willkommen zurück: Ihre Anmeldung bei ${provider} geht weiter, wo Sie waren.`,
    outside: ({ provider }, host) =>
      `${host} gehört nicht zur Anmeldung bei ${provider} und wurde daher nicht geöffnet.`,
    unanswered: ({ provider }) => `Die Seite von ${provider} antwortet nicht. Bitte versuchen Sie es noch einmal.`,
    no_download: ({ provider }) => `Während der Anmeldung bei ${provider} kann nichts heruntergeladen werden.`,
    no_upload: ({ provider }) => `Während der Anmeldung bei ${provider} können keine Dateien gewählt werden.`,
    too_late: ({ provider }) => `Zum Abbrechen ist es zu spät: Ihr Konto bei ${provider} wird gerade verbunden.`,
    not_answered: () => 'Das ging nicht. Bitte versuchen Sie es gleich noch einmal.',
  },

  remote: {
    ok: 'OK',
    cancel: 'Abbrechen',
    done: 'Fertig',
    user: 'Benutzername',
    password: 'Passwort',
    answer: 'Antwort',
    choose: 'Auswählen',
    says: (host) => `${host} meldet`,
    leave: 'Diese Seite verlassen? Was Sie eingegeben haben, ist vielleicht nicht gespeichert.',
    asks: (host) => `${host} fragt nach Benutzername und Passwort.`,
    copied: 'Kopiert.',
    notCopied: 'Ihr Browser erlaubt das Kopieren hier nicht.',
    nothingSelected: 'Es ist nichts ausgewählt, das kopiert werden könnte.',
    refused: 'Während der Unterbrechung wurde zu viel eingegeben. Das Letzte davon ist nicht erhalten.',
    lostInput:
      'Was Sie während der Unterbrechung eingegeben haben, ist nicht angekommen. Bitte geben Sie es noch einmal ein.',
  },

  links: {
    title: 'Nicht verbunden',
    usedTitle: 'Link schon benutzt',
    expiredTitle: 'Link abgelaufen',
    wrongTitle: 'Link ungültig',
    problem: () => 'Bei uns ist etwas schiefgegangen. Bitte versuchen Sie es gleich noch einmal.',
    used: (app) => `Dieser Link wurde schon benutzt. ${againFrom(app)}`,
    purpose: (app) => `Dieser Link ist für etwas anderes. ${againFrom(app)}`,
    provider: (app) =>
      `${app ?? 'Die App'} nannte einen Assistenten, der hier nicht verbunden werden kann. ${againFrom(app)}`,
    scope: (app) => `${app ?? 'Die App'} bat um etwas, das nicht erlaubt ist. ${againFrom(app)}`,
    stale: (app) => `Das kam nicht von der Seite, wie sie jetzt ist. ${againFrom(app)}`,
    expired: (app) => `Dieser Link ist abgelaufen. ${againFrom(app)}`,
    wrong: (app) => `Dieser Link ist nicht gültig. ${againFrom(app)}`,
    none: () => `Diese Seite öffnet sich über einen Link der App, die Sie verbinden. ${againFrom()}`,
  },

  manage: {
    title: 'Ihre Daten',
    heading: (app) => `Ihre Daten in ${app}`,
    lead: (app) => `Die Assistenten, die Sie mit ${app} verbunden haben, und was von ihnen übernommen wurde.`,
    nothingTitle: 'Nichts ist verbunden',
    nothing: (app) => `Sie haben keinen Assistenten mit ${app} verbunden; hier liegt nichts von Ihnen.`,
    status: { active: 'Verbunden', needs_reauth: 'Anmeldung nötig', revoked: 'Getrennt' },
    account: 'Konto',
    conversations: 'Unterhaltungen',
    lastSync: 'Letzter Abgleich',
    connectedOn: 'Verbunden am',
    never: 'Nie',
    notYet: 'Noch nicht',
    signInAgain: ({ app, provider }) =>
      `${provider} verlangt eine neue Anmeldung. Verbinden Sie es in ${app} noch einmal, damit es weitergeht; was übernommen wurde, bleibt.`,
    importing: (stored, most) => `Ihr Verlauf wird übernommen: ${number(stored)} von etwa ${conversations(most)}`,
    imported: (stored, most) => `Bisher übernommen: ${number(stored)} von etwa ${conversations(most)}`,
    importedLabel: 'Übernommener Verlauf',
    firstImportRuns: 'Ihr Verlauf wird zum ersten Mal übernommen; hier erscheint nach und nach mehr.',
    importRuns: 'Ihr Verlauf wird übernommen; hier erscheint nach und nach mehr.',
    importBegins: 'Die erste Übernahme beginnt innerhalb einer Minute.',
    deleteTitle: 'Alle Daten löschen',
    deleteText:
      'Löscht alle übernommenen Unterhaltungen und trennt alle Assistenten oben. Sie werden noch einmal gefragt.',
    deleteAll: 'Alle meine Daten löschen…',
    nothingLeftTitle: 'Es gibt nichts mehr zu löschen',
    nothingLeft: 'Hier liegt keine Unterhaltung und keine Anmeldung von Ihnen.',
    confirmTitle: 'Alle Ihre Daten löschen?',
    confirmPageTitle: 'Alle Ihre Daten löschen',
    countConversations: conversations,
    countConnections: (value) => count(value, 'Verbindung', 'Verbindungen'),
    confirmText: (conversations, connections) => [
      conversations,
      ' samt Dateien aus ',
      connections,
      ' werden sofort gelöscht, ebenso die Anmeldungen, mit denen sie übernommen wurden. ',
    ],
    noUndo: 'Das lässt sich nicht rückgängig machen.',
    appIsTold: (app) => `${app} erfährt von der Löschung. `,
    copies: (app) => `Kopien, die ${app} anderswo angelegt hat, sind von hier aus nicht erreichbar.`,
    accountStays: (providers) => `Ihr Konto bei ${providers} bleibt, wie es ist.`,
    keep: 'Meine Daten behalten',
    deleteEverything: 'Alles löschen',
    deletedTitle: 'Alles wurde gelöscht',
    deletedBefore: 'Es war nichts mehr da: Es wurde schon vorher gelöscht.',
    deletedText: (conversations, connections, at) => [
      conversations,
      ' und ',
      connections,
      ' wurden gelöscht am ',
      at,
      '.',
    ],
    mayClose: (app) =>
      `Sie können diese Seite schließen. Um wieder einen Assistenten mit ${app} zu nutzen, verbinden Sie ihn dort.`,
    deletingTitle: 'Ihre Daten werden gelöscht',
    deleting: 'Ihre Daten werden gelöscht…',
    deletingText: 'Diese Seite zeigt, wenn es fertig ist. Sie können sie schließen: Gelöscht wird trotzdem.',
    staleTitle: 'Nichts wurde gelöscht',
    stale:
      'Die Bestätigung kam nicht von dieser Seite, wie sie jetzt ist: Vielleicht wurde inzwischen ein anderer Link geöffnet.',
    seeData: 'Ihre Daten ansehen',
    unavailable: 'Gerade nicht verfügbar',
    notShown: 'Diese Seite kann nicht gezeigt werden',
    noLink:
      'Diese Seite öffnet sich über einen Link der App, die Sie verbunden haben. Kehren Sie zur App zurück, um einen zu bekommen.',
  },
}
