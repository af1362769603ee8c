/** Validation of the links of releases. */
import { tooLong } from '../../../texts/index.ts';

export const linkTypes = ['other', 'runbook', 'image', 'package'] as const;

/** A link in stored form. */
export interface LinkFields {
  name: string;
  url: string;
  filepath: string | null;
  link_type: string;
}

/** The most links of one release. */
export const maximumLinks = 100;

const maximumLengths = { name: 255, url: 2048, filepath: 128 } as const;
const schemes = ['http:', 'https:', 'ftp:'];

const pathReasons = (filepath: string): string[] => {
  const long = tooLong(filepath, maximumLengths.filepath);
  return long.length > 0 ? long : isPath(filepath) ? [] : ['is invalid'];
};

/** Whether a path matches `^/(?:[-.\w]+/?)*[\da-zA-Z]+$`. That expression itself is not used, because it backtracks exponentially. */
function isPath(filepath: string): boolean {
  if (!filepath.startsWith('/')) return false;
  const parts = filepath.slice(1).split('/');
  return parts.every((part) => /^[-.\w]+$/.test(part)) && /[\da-zA-Z]$/.test(filepath);
}

function urlReasons(url: string): string[] {
  if (url.trim() === '') return ["can't be blank"];
  const long = tooLong(url, maximumLengths.url);
  if (long.length > 0) return long;
  const scheme = URL.canParse(url) ? new URL(url).protocol : undefined;
  if (scheme !== undefined && schemes.includes(scheme)) return [];
  return [`is blocked: ${scheme === undefined ? 'URI is invalid' : 'Only allowed schemes are http, https, ftp'}`];
}

const nameReasons = (name: string): string[] =>
  name.trim() === '' ? ["can't be blank"] : tooLong(name, maximumLengths.name);

/** The reasons for refusing a link, by field: the sentences of the public API, without their first word. */
export function linkReasons({ name, url, filepath }: LinkFields): [field: string, reason: string][] {
  return [
    ...nameReasons(name).map((reason) => ['name', reason] as [string, string]),
    ...urlReasons(url).map((reason) => ['url', reason] as [string, string]),
    ...(filepath === null ? [] : pathReasons(filepath)).map((reason) => ['filepath', reason] as [string, string]),
  ];
}

/** The first field with a value that two links of a release share, if there is one. */
function repeatedField(links: readonly LinkFields[]): string | undefined {
  return (['name', 'url', 'filepath'] as const).find((field) => {
    const values = links.flatMap((link) => link[field] ?? []);
    return new Set(values).size < values.length;
  });
}

/** The reason for refusing a release with these links, worded to follow `Validation failed: Links`. */
export function linksReason(links: readonly LinkFields[]): string | undefined {
  if (links.length > maximumLinks) return `are too many (maximum is ${maximumLinks})`;
  const [first] = links.flatMap(linkReasons);
  if (first) return first.join(' ');
  const repeated = repeatedField(links);
  return repeated && `have duplicate values (${repeated})`;
}
