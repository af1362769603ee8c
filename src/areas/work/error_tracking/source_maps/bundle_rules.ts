/** Parses the manifest of a bundle: its source maps, with the files that they belong to. */
import { isObject, type Json, type JsonObject, textOf } from '../payload/rules.ts';

export interface BundledMap {
  /** Name in the archive. */
  name: string;
  /** With dashes; it links a map to its file, whatever their URLs. */
  debug_id: string | null;
  /** The URL of the generated file, with `~` for the scheme and the host. */
  url: string | null;
}

const maximumUrl = 2048;
/** The base of URLs that begin with `~`. */
const somewhere = 'http://host';

/** @returns in lower case with dashes, null if it is invalid */
export function debugIdIn(value: Json | undefined): string | null {
  const digits = typeof value === 'string' ? value.replaceAll('-', '').toLowerCase() : '';
  return /^[0-9a-f]{32}$/.test(digits) ? digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5') : null;
}

/**
 * The URL of a file without its scheme, host, query and fragment, which differ between uploads and events: `~/static/app.js`.
 * @returns null if the URL is invalid
 */
export function tildeUrl(address: string): string | null {
  const rest = address.startsWith('~/') ? address.slice(1) : address.replace(/^[a-z][\w+.-]*:\/\/[^/]*/i, '');
  const path = rest.split(/[?#]/, 1)[0]!;
  return path.startsWith('/') && path.length <= maximumUrl ? `~${path}` : null;
}

/** Header names are case-insensitive. */
const headerOf = ({ headers }: JsonObject, name: string): Json | undefined =>
  isObject(headers) ? Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1] : undefined;

/** The URL of the map that a file references, resolved against its own. */
function mapUrlOf(file: JsonObject, url: string): string | null {
  const named = textOf(headerOf(file, 'sourcemap')) ?? textOf(headerOf(file, 'x-sourcemap'));
  if (named === undefined) return null;
  const resolved = URL.parse(named, `${somewhere}${url.slice(1)}`);
  return resolved && tildeUrl(resolved.href);
}

/** @param manifest the `manifest.json` of the archive */
export function mapsIn(manifest: Json): BundledMap[] {
  const files = isObject(manifest) && isObject(manifest.files) ? Object.entries(manifest.files) : [];
  const generated = new Map<string, string>();
  for (const [, file] of files) {
    const url = isObject(file) && file.type !== 'source_map' && tildeUrl(textOf(file.url) ?? '');
    const mapUrl = url && mapUrlOf(file as JsonObject, url);
    if (url && mapUrl) generated.set(mapUrl, url);
  }
  return files.flatMap(([name, file]) => {
    if (!isObject(file) || file.type !== 'source_map') return [];
    const own = tildeUrl(textOf(file.url) ?? '');
    const url = own && (generated.get(own) ?? (own.endsWith('.map') ? own.slice(0, -'.map'.length) : null));
    const debug_id = debugIdIn(headerOf(file, 'debug-id'));
    return url || debug_id ? [{ name, debug_id, url: url || null }] : [];
  });
}
