/** Links between the pages of a wiki. */
import type { StateInline } from 'markdown-it';
import { inAddress, withoutWords } from '../foundation/addresses.ts';
import { hasMediaType } from './media.ts';

/** The page that a text is. */
export interface WikiPage {
  /** The address of its wiki, without a slash at the end. */
  wiki_url: string;
  slug: string;
}

/** Represents the top of the wiki or the repository, above which no relative address leads. */
const top = 'http://wiki.invalid/';
/** Attachments are at the top, whatever page shows them. */
const attachment = /^uploads\/[0-9a-f]{32}\//;
const withScheme = /^[a-z][a-z0-9+.-]*:/i;

/**
 * Resolves an address: a relative one starts from the folder of the text, one with a leading slash from the top.
 * @param place the path of the text
 * @returns undefined if it leads elsewhere
 */
function meant(place: string, address: string): { path: string; rest: string } | undefined {
  if (address.startsWith('#') || withScheme.test(address)) return undefined;
  const url = URL.parse(address, `${top}${inAddress(place)}`);
  return url?.href.startsWith(top) ? { path: url.pathname, rest: url.search + url.hash } : undefined;
}

type Attribute = 'href' | 'src';

/** Where an address in a wiki page leads. Images, and other files by their extension, are files of its repository; everything else is a page. */
export function addressInWiki({ wiki_url, slug }: WikiPage, address: string, attribute: Attribute): string {
  if (attachment.test(address)) return `${wiki_url}/${address}`;
  const to = meant(slug, address);
  if (!to) return address;
  const isFile = attribute === 'src' || hasMediaType(to.path);
  return `${wiki_url}${isFile ? `/raw${to.path}` : `/${withoutWords(to.path.slice(1))}`}${to.rest}`;
}

/** A file of a repository that is a text. */
export interface TextFile {
  path: string;
  /** Where the pages of the files of its commit are, without a slash at the end. */
  pages: string;
  /** Where their bytes are. */
  raw: string;
}

/** Where an address in a file leads: an image to the bytes of another file, a link to its page. */
export function addressInFile({ path, pages, raw }: TextFile, address: string, attribute: Attribute): string {
  const to = meant(path, address);
  return to ? `${attribute === 'src' ? raw : pages}${to.path}${to.rest}` : address;
}

const maximum_chars = 1024;
const link = new RegExp(String.raw`\[\[([^[\]|\n]{1,${maximum_chars}})(?:\|([^[\]|\n]{1,${maximum_chars}}))?\]\]`, 'y');

/** The address of the page with a title, which may name a part of the page behind `#`. */
function hrefOf(title: string): string {
  if (/^https?:\/\//i.test(title)) return title;
  const [page = '', ...part] = title.replaceAll(/\s+/g, '-').split('#');
  const anchor = part.length > 0 ? `#${encodeURIComponent(part.join('#'))}` : '';
  // A colon in the first part would be taken for a protocol.
  return `${page === '' || page.startsWith('/') ? '' : './'}${inAddress(page)}${anchor}`;
}

/** A rule for the parser: `[[Page]]` and `[[text|Page]]` link to a page by its title. */
export function linkPage(state: StateInline, silent: boolean): boolean {
  const { page } = state.env as { page?: WikiPage };
  if (page === undefined || state.linkLevel > 0) return false;
  link.lastIndex = state.pos;
  const [whole, text = '', target = text] = link.exec(state.src) ?? [];
  if (whole === undefined || target.trim() === '') return false;
  if (!silent) {
    state.push('link_open', 'a', 1).attrs = [['href', hrefOf(target.trim())]];
    state.push('text', '', 0).content = text.trim();
    state.push('link_close', 'a', -1);
  }
  state.pos += whole.length;
  return true;
}
