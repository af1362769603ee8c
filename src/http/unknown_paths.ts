/** Answers requests without an endpoint: other methods of known paths, and unknown paths. */
import type { FastifyInstance } from 'fastify';
import { costing } from './costs.ts';
import type { AnyEndpoint, Method } from './endpoint.ts';
import { ApiError, notFound } from './errors.ts';
import { routeOf } from './perform.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

interface KnownPath {
  path: string;
  /** Matches the path with any values of its parameters. */
  pattern: RegExp;
  methods: ReadonlySet<Method>;
  endpoints: readonly AnyEndpoint[];
}

function knownPaths(endpoints: readonly AnyEndpoint[]): KnownPath[] {
  const alike = Map.groupBy(endpoints, ({ path }) => path.replaceAll(/([:*])\w+/g, '$1'));
  return [...alike.values()].map((group) => {
    const { path } = group[0]!;
    const present = new Set(group.map(({ method }) => method));
    if (present.has('GET')) present.add('HEAD');
    const [start = '', ...others] = path.split(/([:*])\w+/);
    const words = others.map((word, index) =>
      index % 2 === 0 ? (word === '*' ? '.+' : '[^/]+') : RegExp.escape(word),
    );
    return {
      path,
      pattern: new RegExp(`^${RegExp.escape(start)}${words.join('')}/?$`),
      methods: present,
      endpoints: group,
    };
  });
}

function refuseMethod({ methods: allowed }: KnownPath): ApiError {
  return new ApiError(
    405,
    { message: '405 Not Allowed', error: '405 Not Allowed' },
    { allow: [...allowed].join(', ') },
  );
}

/**
 * Refuses requests without an endpoint: other methods of a known path with 405 and the list of supported ones, other paths with 404. There are several times as many
 * pairs of path and method as endpoints, so they are looked up on request instead of registered as routes.
 * @param root the path that all endpoints live under
 */
export function refuseUnknown(app: FastifyInstance, root: string, endpoints: readonly AnyEndpoint[]): void {
  const known = knownPaths(endpoints);
  app.setNotFoundHandler(async ({ url }) => {
    if (!url.startsWith('/api/')) throw notFound('Page');
    if (url.startsWith('/api/v3/')) throw new ApiError(410, both('API V3 is no longer supported. Use API V4 instead.'));
    // As the router reads it, which has refused what cannot be decoded.
    const path = decodeURI(url.split('?', 1)[0]!).slice(root.length);
    const found = url.startsWith(root) && known.find(({ pattern }) => pattern.test(path));
    throw found ? refuseMethod(found) : new ApiError(404, both('404 Not Found'));
  });
  const alike = Map.groupBy(known, ({ path }) => path.split('/').length);
  for (const one of known) {
    const taken = takenByOthers(one, alike.get(one.path.split('/').length)!);
    if (taken.length === 0) continue;
    const handler = async () => {
      throw refuseMethod(one);
    };
    app.route({ method: taken, url: root + routeOf(one.path), config: costing('usual'), handler });
  }
}

/** Whether the value of a path parameter can be any text, such as the slug of a wiki page, and thus also a word of another path. */
const isText = ({ input }: AnyEndpoint, segment: string): boolean =>
  (input?.[segment.slice(1)] as { type?: string } | undefined)?.type === 'string';

/** Whether an endpoint accepts the words of a path as values of its parameters. */
function understands(endpoint: AnyEndpoint, path: string): boolean {
  const words = path.split('/');
  return endpoint.path
    .split('/')
    .every((segment, at) => !segment.startsWith(':') || words[at]!.startsWith(':') || isText(endpoint, segment));
}

/** The methods that a path lacks, but that another path with an ID in place of a word would support. */
function takenByOthers({ path, methods: own }: KnownPath, alike: readonly KnownPath[]): Method[] {
  const others = alike.filter(({ pattern }) => pattern.test(path)).flatMap(({ endpoints }) => endpoints);
  return methods.filter(
    (method) => !own.has(method) && others.some((other) => other.method === method && !understands(other, path)),
  );
}

const both = (text: string) => ({ message: text, error: text });
