/** An HTTP client for the server under test, which returns the responses. */

export interface Answer {
  status: number;
  headers: Headers;
  /** The parsed JSON, the text of any other body, or null without one. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read replies member by member and assert what they find.
  body: any;
}

export interface Ask {
  headers?: Record<string, string>;
  /** Sent as it is, in place of the parameters. */
  raw?: string | Uint8Array<ArrayBuffer> | FormData;
}

/** The path of the next page of a list with its query, as its link has it. */
export const nextPath = ({ headers }: Answer): string | undefined =>
  /<[^>]*?\/api\/v4([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];

type Parameters = Record<string, unknown>;
type Ask1 = (path: string, parameters?: Parameters, ask?: Ask) => Promise<Answer>;

/** A client: every method sends its parameters like real clients do, as query for GET and HEAD, otherwise as JSON. */
export interface Client {
  get: Ask1;
  head: Ask1;
  post: Ask1;
  put: Ask1;
  patch: Ask1;
  delete: Ask1;
  token: string | undefined;
}

/** The pages of a list, as the link to the next one leads. */
export async function* pagesFrom(client: Pick<Client, 'get'>, path: string): AsyncGenerator<Answer> {
  for (let next: string | undefined = path; next !== undefined; ) {
    const page = await client.get(next);
    yield page;
    next = nextPath(page);
  }
}

function queryOf(parameters: Parameters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (Array.isArray(value)) for (const item of value) query.append(`${name}[]`, String(item));
    else if (typeof value === 'object' && value !== null)
      for (const [key, member] of Object.entries(value)) query.append(`${name}[${key}]`, String(member));
    else query.append(name, String(value));
  }
  return query.toString();
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === '') return null;
  return response.headers.get('content-type') === 'application/json' ? JSON.parse(text) : text;
}

/**
 * @param root the address of the API, e.g. `http://127.0.0.1:4000/api/v4`
 * @param token sent as PRIVATE-TOKEN; left out, the calls are anonymous
 * @param common headers of every call
 */
export function clientOf(root: string, token?: string, common: Record<string, string> = {}): Client {
  const ask =
    (method: string): Ask1 =>
    async (path, parameters, { headers = {}, raw } = {}) => {
      const inQuery = method === 'GET' || method === 'HEAD';
      const query = inQuery && parameters ? `${path.includes('?') ? '&' : '?'}${queryOf(parameters)}` : '';
      const json = !inQuery && parameters && raw === undefined ? JSON.stringify(parameters) : undefined;
      const response = await fetch(`${root}${path}${query}`, {
        method,
        redirect: 'manual',
        headers: {
          ...(token === undefined ? {} : { 'private-token': token }),
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
          ...common,
          ...headers,
        },
        body: raw ?? json ?? null,
      });
      return { status: response.status, headers: response.headers, body: await bodyOf(response) };
    };
  return {
    get: ask('GET'),
    head: ask('HEAD'),
    post: ask('POST'),
    put: ask('PUT'),
    patch: ask('PATCH'),
    delete: ask('DELETE'),
    token,
  };
}
