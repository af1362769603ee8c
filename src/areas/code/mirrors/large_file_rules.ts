/** What other systems say of large files. Pure functions. */
import { type Static, Type } from 'typebox';
import { Check } from 'typebox/value';

/** An address, and the headers that it wants. */
export const Action = Type.Object({
  href: Type.String(),
  header: Type.Optional(Type.Record(Type.String(), Type.String())),
});

export const isOverHttp = (url: string): boolean => /^https?:/.test(url) && URL.canParse(url);

/** JSON of another system; undefined for what is none. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The address in what `git-lfs-authenticate` has said; undefined when it names none over HTTP. */
export function largeFileAction(said: string): Static<typeof Action> | undefined {
  const action = jsonIn(said);
  return Check(Action, action) && isOverHttp(action.href) ? action : undefined;
}

/** They describe the request itself, which is ours. */
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

/** The headers that the other side wants, as far as they are ones. */
export const headersOf = ({ header = {} }: Static<typeof Action>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(header)
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([name, value]) => /^[a-z0-9-]+$/.test(name) && !ownHeaders.has(name) && /^[\t\x20-\x7e]*$/.test(value)),
  );
