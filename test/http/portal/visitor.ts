interface PortalPage {
  status: number
  headers: Headers
  text: string
  location: string | null
  /** What stands in `role="alert"` and in `role="status"`, without markup. */
  alert: string | undefined
  said: string | undefined
  /** The value that `data-secret` shows under this name. */
  secret(name: string): string | undefined
}

/** A browser without scripts: keeps its cookies, goes where it is sent only when told, sends the hidden fields of its visit. */
export interface Visitor {
  cookies: Map<string, string>
  setCookie: string[]
  get(path: string): Promise<PortalPage>
  /** Sends a form with the hidden field of the visit (`token: null`: without), and goes on where it is sent. */
  post(path: string, fields?: Record<string, string>, options?: PostOptions): Promise<PortalPage>
  /** Opens a sign-in link and confirms it. */
  signIn(link: string): Promise<PortalPage>
}

interface PostOptions {
  headers?: Record<string, string>
  token?: string | null
  follow?: boolean
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
const plain = (markup: string | undefined): string | undefined =>
  markup
    ?.replace(/<[^>]*>/g, '')
    .replace(/&(\w+|#39);/g, (whole, name: string) => ENTITIES[name] ?? whole)
    .trim()

export function newVisitor(url: string): Visitor {
  const cookies = new Map<string, string>()
  const setCookie: string[] = []
  let token = ''
  const ask = async (path: string, init: RequestInit = {}): Promise<PortalPage> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(new URL(path, url), {
      ...init,
      redirect: 'manual',
      headers: { ...(cookie && { cookie }), ...init.headers },
    })
    for (const line of response.headers.getSetCookie()) {
      setCookie.push(line)
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '' || /expires=Thu, 01 Jan 1970/i.test(line)) cookies.delete(name)
      else cookies.set(name, value)
    }
    const text = await response.text()
    token = /name="formToken" value="([^"]*)"/.exec(text)?.[1] ?? token
    return {
      status: response.status,
      headers: response.headers,
      text,
      location: response.headers.get('location'),
      alert: plain(/role="alert"[^>]*>(.*?)<\/p>/s.exec(text)?.[1]),
      said: plain(/role="status"[^>]*>(.*?)<\/p>/s.exec(text)?.[1]),
      secret: (name) => plain(new RegExp(`data-secret="${name}">([^<]*)<`).exec(text)?.[1]),
    }
  }
  const get = async (path: string): Promise<PortalPage> => ask(path)
  const follow = async (page: PortalPage): Promise<PortalPage> =>
    page.status === 303 && page.location !== null ? follow(await get(page.location)) : page
  const post: Visitor['post'] = async (path, fields = {}, options = {}) => {
    const given = options.token === undefined ? token : options.token
    const page = await ask(path, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: new URL(url).origin, ...options.headers },
      body: new URLSearchParams({ ...(given !== null && { formToken: given }), ...fields }).toString(),
    })
    return options.follow === false ? page : follow(page)
  }
  return {
    cookies,
    setCookie,
    get,
    post,
    signIn: async (link) => {
      await follow(await get(link))
      return post('/developers/sign-in/confirm')
    },
  }
}
