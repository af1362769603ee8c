/** Addresses of pictures of other servers, and what is a picture (docs/reference/markdown.md#pictures). Pure functions. */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { SaxesParser } from 'saxes';
import { imageType } from '../../../foundation/images.ts';
import type { Services } from '../../../http/index.ts';
import { escapeHtml } from '../../../texts/index.ts';

/** Where pictures of other servers are. */
export const pictureFolder = '/-/picture/';
/** Pictures with longer addresses are not shown. */
const longestAddress_chars = 2_000;
const signature_bytes = 16;

type Keys = Pick<Services, 'secrets'>;

const signatureOf = ({ secrets }: Keys, address: string): Buffer =>
  createHmac('sha256', secrets.keyFor('picture proxy')).update(address).digest().subarray(0, signature_bytes);

/** The path on this server by which a picture of another server is shown. The signature says that it is in a text: nobody can use this server to fetch others. */
const proxiedPath = (keys: Keys, address: string): string =>
  `${pictureFolder}${signatureOf(keys, address).toString('base64url')}/${Buffer.from(address).toString('base64url')}`;

/** The address in a path behind the folder; undefined if this server has not signed it. */
export function addressIn(keys: Keys, rest: string): string | undefined {
  const [signature = '', address = ''] = rest.split('/').map((part) => Buffer.from(part, 'base64url'));
  if (!(signature instanceof Buffer) || signature.length !== signature_bytes || address.length === 0) return undefined;
  const text = address.toString('utf8');
  return timingSafeEqual(signature, signatureOf(keys, text)) ? text : undefined;
}

export const digestOf = (address: string): string => hash('sha256', address);

const unescaped: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' };

/**
 * HTML of texts with the pictures of other servers by the proxy.
 * @param html as the filter of Markdown writes it: with values in double quotes, in which all that is markup is escaped
 */
export function throughProxy({ url, secrets }: Pick<Services, 'url' | 'secrets'>, html: string): string {
  const own = new URL(url).origin;
  return html.replaceAll(/(<img(?: [a-z-]+="[^"]*")*? src=")(https?:[^"]*)"/gi, (whole, start, written) => {
    const address = URL.parse(written.replaceAll(/&(?:amp|lt|gt|quot);/g, (entity: string) => unescaped[entity]!));
    if (!address || address.origin === own || address.username !== '' || address.password !== '') return whole;
    address.hash = '';
    return address.href.length > longestAddress_chars
      ? whole
      : `${start}${proxiedPath({ secrets }, address.href)}" loading="lazy"`;
  });
}

/** Parsing a larger SVG takes long. */
const largestSvg_bytes = 512 * 1024;
const forbiddenElements = new Set(['script', 'foreignobject', 'iframe', 'object', 'embed', 'handler', 'listener']);

/** Whether a text is an SVG that runs nothing. It is only ever shown as a picture, or without an origin. */
function isQuietSvg(text: string): boolean {
  let root: string | undefined;
  let isQuiet = true;
  const parser = new SaxesParser();
  parser.on('doctype', (doctype) => {
    if (/<!ENTITY/i.test(doctype)) isQuiet = false;
  });
  parser.on('opentag', ({ name, attributes }) => {
    root ??= name;
    if (forbiddenElements.has(name.toLowerCase().replace(/^.*:/, ''))) isQuiet = false;
    for (const [attribute, value] of Object.entries(attributes))
      if (/^on/i.test(attribute) || /^\s*javascript:/i.test(String(value))) isQuiet = false;
  });
  parser.on('error', () => {
    isQuiet = false;
  });
  parser.write(text).close();
  return isQuiet && root === 'svg';
}

/** @returns the media type of a picture, by its bytes; undefined for what is none, or may run something */
export function pictureType(bytes: Buffer): string | undefined {
  const type = imageType(bytes);
  if (type) return type === 'image/tiff' ? undefined : type;
  const isSvg = bytes.length <= largestSvg_bytes && /^\uFEFF?\s*</.test(bytes.toString('utf8', 0, 100));
  return isSvg && isQuietSvg(bytes.toString('utf8').replace(/^\uFEFF/, '')) ? 'image/svg+xml' : undefined;
}

const longestShown_chars = 60;

/** A picture in place of one that cannot be shown: its address. */
export function placeholder(address: string): string {
  const { host, pathname } = new URL(address);
  const text = `${host}${pathname}`;
  const shown = text.length > longestShown_chars ? `${text.slice(0, longestShown_chars - 1)}…` : text;
  const width = 16 + 7 * shown.length;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20"><rect width="100%" height="100%" rx="4" fill="#888" fill-opacity=".2"/><text x="8" y="14" font-family="sans-serif" font-size="11" textLength="${width - 16}" fill="#777">${escapeHtml(shown)}</text></svg>`;
}
