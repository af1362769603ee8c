/** Links between the pages of a wiki. */
import type { StateInline } from 'markdown-it';
import { inAddress } from '../foundation/addresses.ts';

/** The page that a text is. */
export interface WikiPage {
  /** The address of its wiki, without a slash at the end. */
  wiki_url: string;
  slug: string;
}

/** Stands for the top of the wiki, above which no relative address leads. */
const top = 'http://wiki.invalid/';
/** Attachments are at the top, whatever page shows them. */
const attachment = /^uploads\/[0-9a-f]{32}\//;
const withScheme = /^[a-z][a-z0-9+.-]*:/i;

/** Where an address in a page leads: a relative one from the folder of the page, one with a slash at its beginning from the top of the wiki. */
export function addressFrom({ wiki_url, slug }: WikiPage, address: string): string {
  if (address.startsWith('#') || withScheme.test(address)) return address;
  const url = URL.parse(address, attachment.test(address) ? top : `${top}${inAddress(slug)}`);
  return url?.href.startsWith(top) ? `${wiki_url}/${url.href.slice(top.length)}` : address;
}

const maximum_chars = 1024;
const link = new RegExp(String.raw`\[\[([^[\]|\n]{1,${maximum_chars}})(?:\|([^[\]|\n]{1,${maximum_chars}}))?\]\]`, 'y');

/** The address of the page with a title, which may name a part of the page behind `#`. */
function hrefOf(title: string): string {
  if (/^https?:\/\//i.test(title)) return title;
  const [page = '', ...part] = title.replaceAll(/\s+/g, '-').split('#');
  const anchor = part.length > 0 ? `#${encodeURIComponent(part.join('#'))}` : '';
  // What has a colon in its first part would be taken for another protocol.
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
