/**
 * Which requests a secondary serves itself, and which it forwards to the primary
 * (docs/reference/geo.md#what-a-secondary-serves). Pure functions.
 */

/** `current`: the secondary itself, if its copy of the repository is current. */
export type Site = 'own' | 'primary' | 'current';

/** Paths that are always served by the requested site, whatever the method. */
const own = /^\/-\/(?:liveness|health|readiness|metrics)$|^\/api\/v4\/geo(?:_nodes|_sites)?(?:\/|$)/;
/** Paths that only the primary can serve, because jobs run there, or something is stored. */
const elsewhere = /^\/-\/picture\/|^\/api\/v4\/(?:(?:projects|groups)\/[^/]+\/export_relations|sidekiq)(?:\/|$)/;
/** A read, although it uses POST. */
const batch = /\.git\/info\/lfs\/objects\/batch$/;

const isSafe = (method: string) => method === 'GET' || method === 'HEAD' || method === 'OPTIONS';

/**
 * Which site serves a request.
 * @param url as it was received, with the query
 */
export function siteFor(method: string, url: string): Site {
  const [path = '', query = ''] = url.split('?', 2);
  if (own.test(path) || batch.test(path)) return 'own';
  if (path.endsWith('/git-upload-pack')) return 'current';
  if (path.endsWith('/info/refs') && new URLSearchParams(query).get('service') === 'git-receive-pack') return 'primary';
  if (!isSafe(method) || elsewhere.test(path)) return 'primary';
  return repositoryIn(path) ? 'current' : 'own';
}

/** A repository that a request reads. */
export interface NamedRepository {
  of: 'project' | 'project_wiki' | 'group_wiki' | 'snippet';
  /** The id or the full path of the owner. */
  owner: string;
}

const decoded = (segment: string) => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
};

/** Patterns with the owner as their first group. */
const places: readonly [NamedRepository['of'], RegExp][] = [
  ['snippet', /^\/(?:.*\/)?snippets\/(\d+)\.git\/(?:info\/refs|git-upload-pack)$/],
  ['project_wiki', /^\/(.+)\.wiki\.git\/(?:info\/refs|git-upload-pack)$/],
  ['project', /^\/(.+?)\.git\/(?:info\/refs|git-upload-pack)$/],
  ['project', /^\/api\/v4\/projects\/([^/]+)\/(?:repository\/|languages$)/],
  [
    'project',
    /^\/api\/v4\/projects\/([^/]+)\/merge_requests\/\d+\/(?:changes|diffs|raw_diffs|commits|versions|conflicts|context_commits)(?:\/|$)/,
  ],
  ['project_wiki', /^\/api\/v4\/projects\/([^/]+)\/wikis(?:\/|$)/],
  ['group_wiki', /^\/api\/v4\/groups\/([^/]+)\/wikis(?:\/|$)/],
  ['snippet', /^\/api\/v4\/(?:projects\/[^/]+\/)?snippets\/(\d+)\/(?:raw|files)(?:\/|$)/],
  // Pages.
  ['project', /^\/(.+?)\/-\/(?:tree|blob|raw|archive|commits?|compare|branches|tags)(?:\/|$)/],
  ['project', /^\/(.+?)\/-\/merge_requests\/(?:new|\d+(?:\.diff|\/commits|\/diffs))$/],
  ['group_wiki', /^\/groups\/(.+?)\/-\/wikis(?:\/|$)/],
  ['project_wiki', /^\/(.+?)\/-\/wikis(?:\/|$)/],
  ['snippet', /^\/(?:.+\/)?-\/snippets\/(\d+)(?:\/|$)/],
  ['project', /^\/((?!(?:-|api|assets|groups|users)\/)[^/]+(?:\/(?!-(?:\/|$))[^/]+)+)$/],
];

/**
 * The repository that a request reads; undefined if it reads none. The wiki of a group has the same form of address as
 * that of a project.
 */
export function repositoryIn(path: string): NamedRepository | undefined {
  for (const [of, place] of places) {
    const owner = decoded(place.exec(path)?.[1] ?? '');
    if (owner) return { of, owner };
  }
  return undefined;
}

/** Headers of a single connection, and headers that every proxy sets anew. */
const notPassed = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',

  'transfer-encoding',
  'upgrade',
  'host',
  'expect',
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-geo-signature',
  'x-geo-ssh-key',
  'x-geo-site',
  'x-geo-served-by',
]);

/** The headers of a request or response that are forwarded. */
export const passedHeaders = (
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string | string[]> => {
  const named = new Set(
    String(headers.connection ?? '')
      .toLowerCase()
      .split(/\s*,\s*/),
  );
  return Object.fromEntries(
    Object.entries(headers).filter(
      (header): header is [string, string | string[]] =>
        header[1] !== undefined && !notPassed.has(header[0]) && !named.has(header[0]),
    ),
  );
};
