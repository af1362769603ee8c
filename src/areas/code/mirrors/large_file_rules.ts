/** Parses LFS replies of other servers. Pure functions. */
import { type Static, Type } from 'typebox';
import { Check } from 'typebox/value';

/** A URL, and the headers that requests to it need. */
export const Action = Type.Object({
  href: Type.String(),
  header: Type.Optional(Type.Record(Type.String(), Type.String())),
});

export const isOverHttp = (url: string): boolean => /^https?:/.test(url) && URL.canParse(url);

/** Parses JSON of another server; undefined if it is invalid. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The URL in the output of `git-lfs-authenticate`; undefined if it has none over HTTP. */
export function largeFileAction(said: string): Static<typeof Action> | undefined {
  const action = jsonIn(said);
  return Check(Action, action) && isOverHttp(action.href) ? action : undefined;
}

/** Headers that describe the request itself and are set by us. */
const ownHeaders = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'expect',
  'upgrade',
  'te',
  'trailer',
]);

/** The headers that the other server requests, without invalid ones. */
export const headersOf = ({ header = {} }: Static<typeof Action>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(header)
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([name, value]) => /^[a-z0-9-]+$/.test(name) && !ownHeaders.has(name) && /^[\t\x20-\x7e]*$/.test(value)),
  );
