/** Texts of people as HTML, in the context of their project. */
import { isRendered, toHtml } from '../../../markdown/index.ts';
import { type Html, type PageCall, sanitised } from '../../../pages/index.ts';
import { linksFor } from '../../conversation/markdown/index.ts';
import { webPath } from '../../conversation/uploads/index.ts';

/** The project of something, and its path. */
export interface Place {
  id: number;
  full_path: string;
}

/**
 * Renders the texts of a page, whose references are looked up together.
 * @returns one for each text; undefined for one that is missing or empty
 */
export async function textsAsHtml(
  { services: { db, url }, caller }: Pick<PageCall, 'services' | 'caller'>,
  { id, full_path }: Place,
  texts: readonly (string | null | undefined)[],
): Promise<(Html | undefined)[]> {
  const rendered = texts.filter((text) => typeof text === 'string' && isRendered(text)) as string[];
  const linkOf = await linksFor({ db, caller, url }, rendered, { full_path });
  const context = { linkOf, uploads: webPath('project', id), images_of: url };
  return Promise.all(texts.map(async (text) => (text ? sanitised(await toHtml(text, context), 2) : undefined)));
}

/** The path of the project in a full reference, such as `group/project#1`. */
export const pathIn = (reference: string): string => reference.replace(/[#!]\d+$/, '');

/** The path of an address of this server, for links that stay on the host by which the browser came. */
export function pathOf(web_url: string): string {
  const { pathname, search, hash } = new URL(web_url);
  return pathname + search + hash;
}
